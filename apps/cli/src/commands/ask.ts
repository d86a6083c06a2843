import { AgentError, type AgentEvent, type ExecuteOptions, type ExecuteResult, type ExecuteStream, execute } from "@loopwright/core";
import type { SessionReader } from "@loopwright/dialect-orchestrator";
import { commandName } from "../command-name.ts";
import { complaintOf } from "../complaint.ts";
import { introduction } from "../compose/introduction.ts";
import { createVendorWords, type VendorWords } from "../compose/vendor-words.ts";
import { openSession, openWorkplace } from "../compose/workplace.ts";
import { exitCodeOfRun } from "../exit-code.ts";
import { type SharedFlags, settingsWithSecrets } from "../flags.ts";
import { type ServerFlags, serverOf } from "../remote/server-address.ts";
import { costText, usageParts } from "../screen/footer-lines.ts";
import { childEnvironment, lendToChildren } from "../secrets/child-environment.ts";
import { errorLogger } from "../serve/error-logger.ts";
import { agentFlags } from "../settings/chosen-agent.ts";
import { checkChatbot, modeLabels, typedModes } from "../settings/typed-modes.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { createAnswerPrinter } from "./answer-printer.ts";
import { questionWithFiles, uploadedFiles } from "./named-files/attached-files.ts";
import { printJson } from "./print-json.ts";
import { readQuestion } from "./read-question.ts";

interface AskFlags extends SharedFlags, ServerFlags {
  readonly session?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly modes?: string;
  readonly chatbot?: string;
  readonly withoutTools?: boolean;
  readonly systemPrompt?: string;
  readonly streamVersion?: string;
  /** Paths of files that go with the question. */
  readonly attach?: readonly string[];
  readonly whenBusy?: NonNullable<ExecuteOptions["mode"]>;
}

/** A question under way. */
interface Asked {
  readonly stream: ExecuteStream;
  /** The command that continues the session. */
  readonly resumeCommand: string;
  readonly flags: AskFlags;
  /** Of a run in this process; a server reports to its own operator. */
  readonly vendorWords?: VendorWords;
}

/** Asks once and returns the exit code. The answer goes to standard output, everything else to standard error. */
export async function ask(words: readonly string[], flags: AskFlags): Promise<number> {
  if (flags.url !== undefined) return askServer(words, flags);
  checkVersion(flags);
  const prompt = promptOf(flags);
  const settings = await settingsWithSecrets(flags, { logger: errorLogger });
  const question = await readQuestion(words, process.stdin, flags);
  lendToChildren(await childEnvironment(settings));
  const workplace = await openWorkplace(settings, { isAttended: false });
  try {
    if (flags.chatbot !== undefined) checkChatbot(flags.chatbot, workplace.chatbots);
    const { labels: modes } = modeLabels(modesIn(flags), workplace.modes);
    const chatbot = flags.chatbot === undefined ? {} : { chatbotId: flags.chatbot };
    const labels = { ...modes, ...chatbot, ...(flags.withoutTools ? { toolsRequired: "false" } : {}) };
    const vendorWords = createVendorWords();
    const session = await openSession(workplace, flags.session, vendorWords);
    introduce(introduction(workplace), flags);
    try {
      const input = await questionWithFiles(question, flags.attach ?? [], workplace.store);
      const stream = execute(session, input, { labels, ...prompt, ...modeOf(flags) });
      return await follow({
        stream,
        resumeCommand: `${commandName()} chat --resume ${session.id}${agentFlags(settings)}`,
        flags,
        vendorWords,
      });
    } finally {
      await session[Symbol.asyncDispose]();
    }
  } finally {
    await workplace.close();
  }
}

/** Asks a running server. The run is its own: it ends there even when this process does not wait for it. */
async function askServer(words: readonly string[], flags: AskFlags): Promise<number> {
  checkVersion(flags);
  const prompt = promptOf(flags);
  const server = await serverOf(flags);
  const question = await readQuestion(words, process.stdin, flags);
  const { clientOf, remotePlace, sessionOf } = await import("../remote/remote-place.ts");
  const client = clientOf(server);
  const modes = modesIn(flags);
  const place = await remotePlace(server, { agent: flags.agent, modes });
  const sessionId = flags.session === undefined ? undefined : (await sessionOf(client, flags.session)).sessionId;
  introduce(place.introduction, flags);
  const attachments = await uploadedFiles(flags.attach ?? [], client);
  const stream = client.execute(question, {
    ...(sessionId === undefined ? { context: {}, ...(flags.agent === undefined ? {} : { agent: flags.agent }) } : { sessionId }),
    ...(modes.length === 0 ? {} : { modes }),
    ...(flags.chatbot === undefined ? {} : { chatbotId: flags.chatbot }),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    labels: { surface: "terminal" },
    ...(flags.withoutTools ? { toolsRequired: false } : {}),
    ...prompt,
    ...modeOf(flags),
  });
  return follow({ stream, resumeCommand: place.resumeCommand(stream.sessionId), flags });
}

/** The modes of the question: those that were named, and that of the chatbot. */
const modesIn = ({ modes, chatbot }: AskFlags): readonly string[] => [
  ...new Set([...typedModes(modes), ...(chatbot === undefined ? [] : ["CHATBOT"])]),
];

/** What becomes of the question while a run is open. */
const modeOf = ({ whenBusy }: AskFlags): Pick<ExecuteOptions, "mode"> => (whenBusy === undefined ? {} : { mode: whenBusy });

/** The prompt of this question, where the flags name one. @throws AgentError INPUT_INVALID for one without text */
function promptOf({ systemPrompt }: AskFlags): Pick<ExecuteOptions, "systemPrompt"> {
  if (systemPrompt === undefined) return {};
  if (systemPrompt.trim() === "")
    throw new AgentError("INPUT_INVALID", {
      message: "The system prompt has no text.",
      fix: "Write it behind `--system-prompt`, or leave it out.",
    });
  return { systemPrompt };
}

function introduce(text: string, { quiet, json }: AskFlags): void {
  if (!quiet && !json) process.stderr.write(`${text}\n`);
}

async function follow(asked: Asked): Promise<number> {
  const { stream, resumeCommand, flags, vendorWords } = asked;
  const stopListening = stopOnSignals(stream);
  try {
    const outputGone = new Promise<never>((_, reject) => process.stdout.once("error", reject));
    outputGone.catch(() => stream.abort("the reader of the answer went away").catch(() => {}));
    if (flags.json) await printJson(framesOf(stream as AsyncIterable<AgentEvent>, await readerOf(flags)), process.stdout);
    else await printAnswer(stream, flags);
    const result = await stream.result();
    if (!flags.quiet && !flags.json)
      process.stderr.write(`${[...waitingLines(result), account(result)].join("\n")}\nResume: ${resumeCommand}\n`);
    if (result.error && result.status === "error")
      process.stderr.write(`${complaintOf(result.error, vendorWords?.of(result.error)).join("\n")}\n`);
    return exitCodeOfRun(result);
  } finally {
    stopListening();
  }
}

/** @throws AgentError INPUT_INVALID */
function checkVersion({ streamVersion, json }: AskFlags): void {
  if (streamVersion === undefined || (json && /^[12]$/.test(streamVersion))) return;
  throw new AgentError("INPUT_INVALID", {
    message: json
      ? `There is no stream version \`${oneLine(streamVersion, 40)}\`.`
      : "A stream version was named, and no events are printed.",
    fix: "Pass `--json --stream-version 1` or `--json --stream-version 2`, or leave it out.",
  });
}

/** What turns events into the frames of the stream version that was named, where one was. */
async function readerOf({ streamVersion }: AskFlags): Promise<SessionReader | undefined> {
  if (streamVersion === undefined) return undefined;
  const { createSessionReader } = await import("@loopwright/dialect-orchestrator");
  return createSessionReader(streamVersion === "1" ? 1 : 2);
}

async function* framesOf(events: AsyncIterable<AgentEvent>, reader: SessionReader | undefined): AsyncGenerator<object> {
  for await (const event of events) {
    if (!reader) yield event;
    // What only the stream itself has to report, its start, is no event of the session.
    else if ("seq" in event || "lane" in event) yield* reader.read([event]);
  }
}

async function printAnswer(stream: ExecuteStream, flags: AskFlags): Promise<void> {
  const printer = createAnswerPrinter({ stdout: process.stdout, stderr: process.stderr, flags });
  for await (const event of stream as AsyncIterable<AgentEvent>) printer.push(event);
  printer.end((await stream.result()).text);
}

/** The calls that wait for a person, one on a line. */
function waitingLines({ pendingToolCalls = [], pendingApprovals = [] }: ExecuteResult): readonly string[] {
  const asked = [
    ...pendingApprovals.map((call) => ({ ...call, waits: "approval" })),
    ...pendingToolCalls.map((call) => ({ ...call, waits: "an answer" })),
  ];
  return asked.map(({ toolName, args, waits }) => `Waits for ${waits}: ${oneLine(`${toolName} ${JSON.stringify(args)}`, 200)}`);
}

function account(result: ExecuteResult): string {
  const parts = [...usageParts(result.usage)];
  if (result.cost) parts.push(costText(result.cost.totalUsd) + (result.cost.partial ? "+" : ""));
  const ended = { completed: "done", awaiting_tool_execution: "waiting", aborted: "stopped", error: "failed" }[result.status];
  return [ended, ...parts].join(" · ");
}

/** The first signal stops the run and keeps what was written; the second ends the process. */
function stopOnSignals(stream: ExecuteStream): () => void {
  let count = 0;
  const stop = (): void => {
    count += 1;
    if (count > 1) process.exit(130);
    stream.abort("stopped by the user").catch(() => {});
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
  };
}
