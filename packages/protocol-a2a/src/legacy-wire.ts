/*
 * Owns: A2A 0.3 on the wire. Requests differ by the names of their methods and a few fields, answers carry a `kind`, states are words, and the last status of a
 * stream is `final`.
 */
import type { JsonObject } from "@loopwright/core/protocol";
import type { Task, TaskEvent, TaskMessage, TaskPart, TaskState, TaskStatus } from "./a2a-task.ts";

/** What the methods of 0.3 are called in 1.0. */
export const legacyMethods: { readonly [method: string]: string } = {
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/resubscribe": "SubscribeToTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
  "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
};

export function legacyTask({ status, artifacts, history, ...task }: Task): object {
  return {
    ...{ kind: "task", ...task, status: legacyStatus(status) },
    artifacts: artifacts.map((artifact) => ({ ...artifact, parts: artifact.parts.map(legacyPart) })),
    history: history.map(legacyMessage),
  };
}

export function legacyEvent(event: TaskEvent): object {
  if ("task" in event) return legacyTask(event.task);
  if ("statusUpdate" in event) {
    const { status, ...update } = event.statusUpdate;
    return { kind: "status-update", ...update, status: legacyStatus(status), final: !runningStates.includes(status.state) };
  }
  const { artifact, ...update } = event.artifactUpdate;
  return { kind: "artifact-update", ...update, artifact: { ...artifact, parts: artifact.parts.map(legacyPart) } };
}

const runningStates: readonly TaskState[] = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"];

function legacyStatus({ state, message, ...status }: TaskStatus): JsonObject {
  return {
    ...{ state: state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-"), ...status },
    ...(message ? { message: legacyMessage(message) } : {}),
  };
}

const legacyMessage = ({ role, parts, ...message }: TaskMessage): JsonObject => ({
  ...{ kind: "message", ...message, role: role === "ROLE_USER" ? "user" : "agent" },
  parts: parts.map(legacyPart),
});

/** Data of 0.3 is an object. */
function legacyPart(part: TaskPart): JsonObject {
  if ("text" in part) return { kind: "text", text: part.text };
  const { data } = part;
  return { kind: "data", data: typeof data === "object" && data !== null && !Array.isArray(data) ? (data as JsonObject) : { value: data } };
}
