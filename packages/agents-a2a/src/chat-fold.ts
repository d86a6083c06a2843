import type { Json, JsonObject } from "@loopwright/core";
import { isAtRest, type RemoteEvent, type RemoteTask } from "./remote-task.ts";

/** One event for a page: text that grows and states, what tools do, the end. */
export type ChatFrame =
  | { readonly event: "status"; readonly data: ChatStatus }
  | { readonly event: "progress"; readonly data: ChatProgress }
  | { readonly event: "result"; readonly data: ChatResult };

interface Placed {
  readonly taskId: string;
  /** In words: `working`, `completed`, `input-required`. */
  readonly state: string;
}

interface ChatStatus extends Placed {
  readonly contextId?: string;
  /** Follows the texts before it, or takes their place. */
  readonly text?: string;
  readonly replace?: true;
}

interface ChatProgress extends Placed {
  readonly text?: string;
  readonly data: readonly Json[];
}

interface ChatResult extends Placed {
  readonly contextId: string;
  readonly text: string;
  /** A question, or a cause. */
  readonly note?: string;
  readonly data?: readonly Json[];
}

const wordOf = (state: string): string => state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");

/** The events of one task as those of a page. Texts of `status`, each after the others or in their place, are the text of `result`. Pure. */
export class ChatFold {
  #taskId = "";
  #state = "TASK_STATE_SUBMITTED";
  #shown = "";
  #artifacts = new Map<string, string>();

  get taskId(): string {
    return this.#taskId;
  }

  take(event: RemoteEvent): readonly ChatFrame[] {
    if (event.type === "task") return this.#takeTask(event.task);
    if (event.taskId !== "") this.#taskId = event.taskId;
    if (event.type === "text") {
      const before = event.append ? (this.#artifacts.get(event.artifact) ?? "") : "";
      this.#artifacts.set(event.artifact, before + event.text);
      return this.#grown();
    }
    const { state, note, data } = event;
    const isNew = state !== this.#state;
    this.#state = state;
    if (isAtRest(state)) return [];
    if (note === "" && data.length === 0) return isNew ? [{ event: "status", data: this.#placed() }] : [];
    return [{ event: "progress", data: { ...this.#placed(), ...(note === "" ? {} : { text: note }), data } }];
  }

  /** The end of a task as it is kept: a stream that was cut has not all of it. */
  end({ contextId, note, data, ...task }: RemoteTask): readonly ChatFrame[] {
    const before = this.#takeTask({ contextId, note, data, ...task });
    const about = { ...(note === "" ? {} : { note }), ...(data.length === 0 ? {} : { data }) };
    return [...before.slice(1), { event: "result", data: { ...this.#placed(), contextId, text: this.#shown, ...about } }];
  }

  /** The end of an answer without a task. */
  endOfMessage(): ChatFrame {
    this.#state = "TASK_STATE_COMPLETED";
    return { event: "result", data: { ...this.#placed(), contextId: "", text: this.#shown } };
  }

  #takeTask({ id, contextId, state, artifacts }: RemoteTask): readonly ChatFrame[] {
    this.#taskId = id;
    this.#state = state;
    this.#artifacts = new Map(artifacts);
    return [{ event: "status", data: { ...this.#placed(), contextId } }, ...this.#grown()];
  }

  #grown(): readonly ChatFrame[] {
    const text = [...this.#artifacts.values()].join("");
    if (text === this.#shown) return [];
    const isContinued = text.startsWith(this.#shown);
    const part: JsonObject & Pick<ChatStatus, "text" | "replace"> = isContinued
      ? { text: text.slice(this.#shown.length) }
      : { text, replace: true };
    this.#shown = text;
    return [{ event: "status", data: { ...this.#placed(), ...part } }];
  }

  #placed(): Placed {
    return { taskId: this.#taskId, state: wordOf(this.#state) };
  }
}
