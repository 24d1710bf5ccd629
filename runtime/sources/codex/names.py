"""The names of the records that Codex writes, and what becomes of each."""

from __future__ import annotations

KIND = "codex"
AGENT = "Codex"

ENVELOPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "event_msg",
        "response_item",
        "compacted",
        "world_state",
        "token_usage_record",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)
"""Types of a record as a whole."""

ITEMS = frozenset(
    {
        "message",
        "agent_message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
        "image_generation_call",
        "tool_search_call",
        "tool_search_output",
        "ghost_snapshot",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "compaction_trigger",
        "additional_tools",
        "other",
    }
)
"""Types of a `response_item`."""

QUIET_EVENTS = frozenset(
    {
        "agent_message_content_delta",
        "agent_message_delta",
        "agent_reasoning_delta",
        "agent_reasoning_raw_content_delta",
        "agent_reasoning_section_break",
        "apply_patch_approval_request",
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_close_begin",
        "collab_close_end",
        "collab_resume_begin",
        "collab_resume_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "conversation_path",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "elicitation_request",
        "exec_approval_request",
        "exec_command_begin",
        "exec_command_output_delta",
        "get_history_entry_response",
        "guardian_assessment",
        "guardian_warning",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "item_started",
        "item_updated",
        "list_custom_prompts_response",
        "list_skills_response",
        "mcp_list_tools_response",
        "mcp_startup_complete",
        "mcp_startup_update",
        "mcp_tool_call_begin",
        "model_reroute",
        "model_verification",
        "patch_apply_begin",
        "patch_apply_updated",
        "plan_delta",
        "plan_update",
        "raw_response_item",
        "realtime_conversation_closed",
        "realtime_conversation_list_voices_response",
        "realtime_conversation_realtime",
        "realtime_conversation_sdp",
        "realtime_conversation_started",
        "reasoning_content_delta",
        "reasoning_raw_content_delta",
        "request_permissions",
        "request_user_input",
        "safety_buffering",
        "session_configured",
        "session_renamed",
        "shutdown_complete",
        "skills_update_available",
        "stream_error",
        "task_complete",
        "terminal_interaction",
        "thread_goal_cleared",
        "thread_goal_updated",
        "thread_memory_mode_updated",
        "thread_settings_applied",
        "turn.completed",
        "turn.started",
        "turn_complete",
        "turn_diff",
        "turn_moderation_metadata",
        "undo_completed",
        "undo_started",
        "warning",
        "web_search_begin",
    }
)
"""Types of an `event_msg` that are known and tell nothing to a timeline by themselves."""

QUIET_ITEMS = frozenset(
    {"ghost_snapshot", "additional_tools", "compaction_trigger", "other", "compaction", "compaction_summary"}
)
"""The same of `response_item`."""

BARE_NAMESPACES = frozenset({"", "functions", "collaboration", "multi_agent_v1", "multi_agent_v2", "multi_agent"})
"""Namespaces of Codex's own tools, whose names need no more to be told apart."""
