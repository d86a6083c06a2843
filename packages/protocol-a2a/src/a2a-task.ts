import type { Json, PendingApproval, PendingToolCall, Usage } from "@loopwright/core/protocol";

/** What a run waits for. */
export interface Pending {
  readonly pendingApprovals?: readonly PendingApproval[];
  readonly pendingToolCalls?: readonly PendingToolCall[];
}

/** States of a task that runs of ours have. */
export type TaskState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED";

/** A part of a message or an artifact. */
export type TaskPart = { readonly text: string } | { readonly data: Json };

export interface TaskMessage {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly TaskPart[];
  readonly taskId: string;
  readonly contextId: string;
}

export interface TaskStatus {
  readonly state: TaskState;
  /** ISO 8601. Absent before the first event of the run. */
  readonly timestamp?: string;
  readonly message?: TaskMessage;
}

export interface TaskArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly TaskPart[];
}

/** What A2A has no field for. */
export interface TaskMetadata {
  /** What the run has used. */
  readonly usage: Usage;
}

/** A task of A2A 1.0. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly artifacts: readonly TaskArtifact[];
  readonly history: readonly TaskMessage[];
  readonly metadata?: TaskMetadata;
}

export interface StatusUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TaskStatus;
  readonly metadata?: TaskMetadata;
}

export interface ArtifactUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: TaskArtifact;
  /** False: the artifact takes the place of the one before. */
  readonly append: boolean;
  readonly lastChunk: boolean;
}

/** One event of a stream of A2A 1.0. */
export type TaskEvent = { readonly task: Task } | { readonly statusUpdate: StatusUpdate } | { readonly artifactUpdate: ArtifactUpdate };
