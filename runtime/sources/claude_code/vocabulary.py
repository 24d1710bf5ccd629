"""The kinds of record that Claude Code writes, as far as they were seen: versions 1.0.51 to 2.1.332.

A record of a kind that is named here and that tells nothing to a timeline is bookkeeping; every other one is unknown.
"""

from __future__ import annotations

KEPT_TYPES = frozenset(
    {
        "agent-color", "agent-setting", "api-request", "api-request-blob", "api-request-shape", "atis-latch",
        "attribution-snapshot", "bridge-session", "content-replacement", "context-collapse-commit",
        "context-collapse-snapshot", "file-history-delta", "file-history-snapshot", "fork-context-ref", "frame-link",
        "last-prompt", "launched", "mode", "permission-mode", "pr-link", "queue-operation", "relocated", "result",
        "speculation-accept", "started", "summary", "tag", "task-summary", "tools-used", "worktree-state",
    }
)  # fmt: skip
"""Records that say how the client was set, and copies of what other records say."""

TITLES = {"ai-title": "aiTitle", "custom-title": "customTitle", "agent-name": "agentName"}
"""Record type -> the field with the title."""

KEPT_PROGRESS = frozenset(
    {
        "agent_progress", "bash_progress", "hook_progress", "mcp_progress", "powershell_progress", "query_update",
        "search_results_received", "skill_progress", "task_progress", "waiting_for_task", "workflow_progress",
    }
)  # fmt: skip

KEPT_SYSTEM = frozenset(
    {
        "agents_killed", "away_summary", "bridge_status", "compact_boundary", "file_snapshot", "informational", "init",
        "memory_saved", "microcompact_boundary", "permission_denied", "permission_retry", "scheduled_task_fire", "session_start",
        "stop_hook_summary", "task_notification", "task_progress", "task_started", "task_updated", "thinking",
        "thinking_tokens", "turn_duration", "api_retry", "api_metrics", "background_tasks_changed",
    }
)  # fmt: skip

KEPT_ATTACHMENTS = frozenset(
    {
        "agent_listing_delta", "agent_mention", "already_read_file", "async_hook_response", "auto_mode", "auto_mode_exit",
        "batching_reminder_sent", "budget_usd", "command_permissions", "compact_file_reference", "compaction_reminder",
        "context_efficiency", "critical_system_reminder", "current_session_memory", "date", "date_change",
        "deferred_tools_delta", "deferred_tools_record", "diagnostics", "directory", "dynamic_skill",
        "edited_image_file", "edited_text_file", "environment", "file", "hook_additional_context",
        "hook_blocking_error", "hook_cancelled", "hook_error_during_execution", "hook_non_blocking_error",
        "hook_permission_decision", "hook_stopped_continuation", "hook_success", "hook_system_message", "image",
        "instructions", "invoked_skills", "mcp_instructions_delta", "mcp_resource", "model", "nested_memory",
        "opened_file_in_ide", "output_style", "output_token_usage", "pdf_reference", "plan_file_reference", "plan_mode",
        "plan_mode_exit", "plan_mode_reentry", "prompt_snapshot", "queued_command", "read_truncation_notice",
        "relevant_memories", "remote_session_change", "selected_lines_in_ide", "session_context",
        "silent_turn_reminder", "skill_discovery", "skill_listing", "structured_output", "task_reminder", "task_status",
        "team_context", "teammate_mailbox", "todo", "todo_reminder", "token_usage", "total_tokens_reminder",
        "ultra_effort_enter", "ultra_effort_exit", "ultrathink_effort", "ultramemory", "verify_plan_reminder",
    }
)  # fmt: skip

SPAWNING = frozenset({"Task", "Agent"})
"""Tools that start an agent of its own; the first was the name until 2.1.1xx."""
