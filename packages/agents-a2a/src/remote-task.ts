import type { Json, JsonObject } from "@loopwright/core";

/** What is read of a task of A2A 1.0. */
export interface RemoteTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: string;
  /** The texts of its artifacts by their ids. */
  readonly artifacts: ReadonlyMap<string, string>;
  /** The text of all artifacts. */
  readonly text: string;
  /** The text of its status: a question, or a cause. */
  readonly note: string;
  /** The data of its status. */
  readonly data: readonly Json[];
}

/** One event of a stream. */
export type RemoteEvent =
  | { readonly type: "task"; readonly task: RemoteTask }
  | { readonly type: "status"; readonly taskId: string; readonly state: string; readonly note: string; readonly data: readonly Json[] }
  | { readonly type: "text"; readonly taskId: string; readonly artifact: string; readonly text: string; readonly append: boolean };

/** States in which nothing follows. */
const endStates: ReadonlySet<string> = new Set(
  ["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED"].map((name) => `TASK_STATE_${name}`),
);

export const isAtRest = (state: string): boolean => endStates.has(state);

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const partsOf = (value: Json | undefined): readonly JsonObject[] => {
  const { parts } = isObject(value) ? value : {};
  return Array.isArray(parts) ? parts.filter(isObject) : [];
};

const partsText = (value: Json | undefined): string =>
  partsOf(value)
    .map(({ text }) => textOf(text))
    .join("");

function statusOf(value: Json | undefined): { readonly state: string; readonly note: string; readonly data: readonly Json[] } {
  const { state, message } = isObject(value) ? value : {};
  const data = partsOf(message).flatMap(({ data: given }) => (given === undefined ? [] : [given]));
  return { state: textOf(state), note: partsText(message), data };
}

/** The artifacts of a task by their ids. */
function artifactsOf({ artifacts }: JsonObject): ReadonlyMap<string, string> {
  const list = Array.isArray(artifacts) ? artifacts.filter(isObject) : [];
  return new Map(list.map((artifact, at) => [textOf(artifact["artifactId"]) || String(at), partsText(artifact)]));
}

/** `undefined` for what is no task. */
export function readRemoteTask(value: Json | undefined): RemoteTask | undefined {
  if (!isObject(value) || typeof value["id"] !== "string") return undefined;
  const artifacts = artifactsOf(value);
  const text = [...artifacts.values()].join("");
  return { id: value["id"], contextId: textOf(value["contextId"]), artifacts, text, ...statusOf(value["status"]) };
}

/** `undefined` for an event that is not known. */
export function readRemoteEvent(value: JsonObject): RemoteEvent | undefined {
  const task = readRemoteTask(value["task"]);
  if (task) return { type: "task", task };
  const { statusUpdate, artifactUpdate, message } = value;
  if (isObject(statusUpdate)) return { type: "status", taskId: textOf(statusUpdate["taskId"]), ...statusOf(statusUpdate["status"]) };
  if (isObject(artifactUpdate)) {
    const { artifact, append, taskId } = artifactUpdate;
    const id = isObject(artifact) ? textOf(artifact["artifactId"]) : "";
    return { type: "text", taskId: textOf(taskId), artifact: id, text: partsText(artifact), append: append === true };
  }
  return isObject(message) ? { type: "text", taskId: "", artifact: "message", text: partsText(message), append: false } : undefined;
}
