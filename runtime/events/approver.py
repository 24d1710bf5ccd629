"""Who answers an ask, in words for a person. Apart from the events, so that a screen need not load their models for it."""

APPROVER_WORDS: dict[str, str] = {"flag": "the option --answer", "native_prompt": "the agent's own prompt"}
"""Kinds of approvers whose names do not speak for themselves, in words."""
