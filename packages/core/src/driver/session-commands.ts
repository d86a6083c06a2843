import { AgentError } from "../errors.ts";
import type { FactBody } from "../loop/fact.ts";
import { placeOf } from "../loop/inputs.ts";
import type { State } from "../loop/state.ts";
import type { MessageId } from "../message/message.ts";
import { shownId } from "../message/shown-id.ts";
import type { AgentSession } from "../protocol/execute.ts";
import { decideCall } from "./decide-call.ts";
import { checkPayload } from "./payload.ts";
import { sessionClosed } from "./session-errors.ts";
import type { SubmitScene } from "./submit.ts";

/** What anybody may record, whoever owns the session. */
export function commandsOf(scene: SubmitScene): Pick<AgentSession, "open" | "abort" | "decide" | "change" | "moveHead" | "end"> {
  const { deps, driver, keeper, opening } = scene;
  const record = (bodies: (state: State) => readonly FactBody[], mayStop = false): Promise<unknown> =>
    driver.offer({ bodies, needsOwner: false, mayStop });
  const change = (bodies: (state: State) => readonly FactBody[]): Promise<unknown> =>
    record((state) => {
      if (state.status === "closed") throw sessionClosed(deps.sessionId);
      return bodies(state);
    });
  return {
    async open() {
      let isNew = false;
      await record(({ status }) => {
        isNew = status === "new";
        return isNew ? [opening] : [];
      });
      return isNew;
    },
    async abort(reason = "user", { by = deps.access.user, runId } = {}) {
      let isAborting = false;
      await record(({ run, inputs }) => {
        const runs = run ? [run, ...inputs] : inputs;
        const target = runId === undefined ? runs[0] : runs.find((one) => one.runId === runId);
        isAborting = target !== undefined && !target.abort;
        return target && isAborting ? [{ type: "abort.requested", runId: target.runId, reason, by }] : [];
      }, true);
      if (isAborting && deps.drives) keeper.keep();
      return isAborting;
    },
    decide: (callKey, decision) => decideCall(scene, callKey, decision),
    async change(changes) {
      const body = changedBy(changes);
      await change((state) => (state.status === "new" ? [opening, body] : [body]));
    },
    async moveHead(to) {
      await change((state) => {
        if (placeOf(state, to) !== undefined) return [{ type: "head.moved", to }];
        throw noMessage(to);
      });
    },
    async end() {
      const closed: FactBody = { type: "session.closed" };
      await record(({ status }) => (status === "closed" ? [] : status === "new" ? [opening, closed] : [closed]), true);
    },
  };
}

const noMessage = (id: MessageId | null): AgentError =>
  new AgentError("INPUT_INVALID", {
    message: `There is no message \`${shownId(String(id))}\`.`,
    fix: "Take an id from `session.messageIds`.",
  });

function changedBy({ title, metadata }: Parameters<AgentSession["change"]>[0]): FactBody {
  if (metadata) checkPayload(metadata, "The metadata");
  return { type: "session.changed", ...(title === undefined ? {} : { title }), ...(metadata ? { metadata } : {}) };
}
