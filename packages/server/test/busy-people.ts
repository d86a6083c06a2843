import { isAgentError } from "@loopwright/core";
import type { ExecuteInput, ToolResultMessage } from "@loopwright/core/protocol";
import type { HostedSession } from "@loopwright/host";
import { turnOfLoop } from "../../host/test/turn-of-loop.ts";
import { wordsOf } from "./busy-agent.ts";
import type { StreamDoor } from "./stream-door.ts";

/** What was done, by kind: a test shows that it was not nothing. */
export type Deeds = { [deed: string]: number };

export interface BusyPeopleOptions {
  /** Or several, as one. */
  readonly door: Pick<StreamDoor, "use">;
  readonly sessionId: string;
  readonly random: () => number;
  readonly deeds: number;
}

/** Sends messages, steers, interrupts, aborts, answers, branches and renames at random, then sees to it that the session comes to rest. */
export async function keepBusy({ door, sessionId, random, deeds }: BusyPeopleOptions): Promise<Deeds> {
  const done: Deeds = {};
  const act = async (): Promise<void> => {
    const deed = drawDeed(random);
    const notified = await refusalOf(() => door.use(sessionId, (hosted) => doDeed(deed, hosted, random)));
    const name = notified === undefined ? deed : `${deed} ${notified}`;
    done[name] = (done[name] ?? 0) + 1;
  };
  for (let left = deeds; left > 0; left--) {
    await act();
    for (let turns = Math.floor(random() * 40); turns > 0; turns--) await turnOfLoop();
  }
  await bringToRest(door, sessionId);
  return done;
}

/** Keeps a session busy as long as another user works with it. That user may wait for answers or for an end. */
export async function keepBusyUntil<Result>(others: Promise<Result>, options: BusyPeopleOptions): Promise<[Deeds, Result]> {
  let areDone = false;
  const done = others.finally(() => {
    areDone = true;
  });
  done.catch(() => {}); // Thrown below.
  const deeds = await keepBusy(options);
  while (!areDone) {
    await bringToRest(options.door, options.sessionId);
    await turnOfLoop();
  }
  const result = await done;
  await bringToRest(options.door, options.sessionId);
  return [deeds, result];
}

/** The code of what was thrown; `undefined`: nothing was. */
async function refusalOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!isAgentError(error)) throw error;
    return error.code;
  }
}

function drawDeed(random: () => number): string {
  const draw = random();
  if (draw < 0.35) return "say";
  if (draw < 0.47) return "steer";
  if (draw < 0.52) return "interrupt";
  if (draw < 0.64) return "abort";
  if (draw < 0.84) return "answer";
  if (draw < 0.9) return "regenerate";
  if (draw < 0.94) return "branch";
  return draw < 0.97 ? "rename" : "move head";
}

async function doDeed(deed: string, { session }: HostedSession, random: () => number): Promise<void> {
  const text = wordsOf(random, 3) || "x";
  const someId = session.messageIds[Math.floor(random() * session.messageIds.length)];
  switch (deed) {
    case "say":
      return void (await session.submit(text));
    case "steer":
    case "interrupt":
      return void (await session.submit(text, { mode: deed }));
    case "abort":
      return void (await session.abort("a person stopped it"));
    case "answer":
      return answerCalls(session, random);
    case "regenerate": {
      const users = session.messageIds.filter((_, place) => session.messages[place]?.role === "user");
      const message = users[Math.floor(random() * users.length)];
      return void (message !== undefined && (await session.submit({ regenerate: message } satisfies ExecuteInput)));
    }
    case "branch":
      return void (await session.submit(text, { parent: someId ?? null }));
    case "rename":
      return session.change({ title: text.replaceAll(/\p{C}/gu, " ").slice(0, 40) });
    default:
      return session.moveHead(someId ?? null);
  }
}

/** Results of the calls that wait: of all, or of one. */
export async function answerCalls(session: HostedSession["session"], random: () => number): Promise<void> {
  const pending = session.pendingToolCalls;
  const some = random() < 0.3 ? pending.slice(0, 1) : pending;
  const results = some.map(
    ({ toolCallId, callKey, toolName }): ToolResultMessage => ({
      role: "tool_result",
      toolCallId,
      callKey,
      toolName,
      outcome: "ok",
      content: [{ type: "text", text: `answer to ${callKey} ✓` }],
    }),
  );
  if (results.length > 0) await session.submit(results);
}

/** Answers what waits; stops what hangs. */
async function bringToRest(door: Pick<StreamDoor, "use">, sessionId: string): Promise<void> {
  for (let turn = 1; ; turn++) {
    let isQuiet = false;
    const look = (): Promise<void> =>
      door.use(sessionId, async ({ session }) => {
        await session.ready();
        if (session.pendingToolCalls.length > 0) await answerCalls(session, () => 1);
        else isQuiet = session.isResting;
        if (turn % 200 === 0 && !isQuiet) await session.abort("it takes too long");
      });
    await refusalOf(look);
    if (isQuiet) return;
    if (turn > 20_000) throw new Error("The session does not come to rest.");
    await turnOfLoop();
  }
}
