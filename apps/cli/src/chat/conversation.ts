import type { AgentEvent } from "@loopwright/core";
import { complaintOf } from "../complaint.ts";
import { agentsOf } from "../screen/agent-tree.ts";
import { addNotice, foldScreen, screenOf } from "../screen/fold-screen.ts";
import { emptyScreen, type Screen, type Tone } from "../screen/screen.ts";
import { asksForMore, decisionOf } from "./approval-lines.ts";
import { approvalPages } from "./approval-pages.ts";
import type { AnswerEnd, CallAnswers, ChatSession } from "./chat-session.ts";
import { answerTo, isApproval, type Question } from "./question-lines.ts";

type Answer = CallAnswers["results"][number] | CallAnswers["decisions"][number];

/** Messages of the past that a resumed session shows. */
const pastShownMax = 40;

/**
 * Owns: one session, the screen folded from its events, and the calls that wait for the person. Knows nothing of terminals.
 * Invariants: I1 the screen changes by events and notices only; I2 `isBusy` is true as long as a run of ours is open.
 */
export interface Conversation {
  readonly session: ChatSession;
  readonly screen: Screen;
  readonly isBusy: boolean;
  /** The call that the next words answer. */
  readonly question: Question | undefined;
  /** The page of its arguments that is shown, from 0. */
  readonly page: number;
  /** Resolves when no run of ours is open, or one asks the person. */
  rest(): Promise<void>;
  /** Shows the past and continues a run that a crash cut off, or one that is under way. */
  begin(): void;
  /** Sends words: answers the first pending question, joins the open run, or begins one. */
  send(text: string): void;
  abort(): Promise<void>;
  notice(tone: Tone, lines: readonly string[]): void;
  /** The model of the next inputs. */
  useModel(model: string): void;
  /** Lets go of the session. */
  end(): Promise<void>;
}

class SessionConversation implements Conversation {
  screen: Screen = emptyScreen;
  readonly session: ChatSession;
  private readonly onChange: () => void;
  private readonly open = new Set<Promise<void>>();
  /** Given answers by call key; they are sent when the last one is there. */
  private readonly answers = new Map<string, Answer>();
  /** How many pages of arguments were turned, by call key. */
  private readonly turned = new Map<string, number>();
  /** The callers that wait for a change. */
  private wakes: (() => void)[] = [];
  private readonly unsubscribe: () => void;
  private model: string | undefined;
  /** A run that several inputs joined is complained about once. */
  private lastFailedRun: string | undefined;

  constructor(session: ChatSession, onChange: () => void) {
    this.session = session;
    this.onChange = () => {
      onChange();
      for (const wake of this.wakes.splice(0)) wake();
    };
    this.unsubscribe = session.subscribe({
      events: (events) => this.fold(events),
      connection: (isLost) =>
        isLost
          ? this.notice("warning", ["The server does not answer. The chat continues when it is back."])
          : this.notice("quiet", ["The server is back."]),
      failed: (error) => {
        // The caller that waits for an answer reports the error.
        if (!this.isBusy) this.notice("error", complaintOf(error));
      },
    });
  }

  get isBusy(): boolean {
    return this.open.size > 0;
  }

  async rest(): Promise<void> {
    while (this.open.size > 0 && !this.question)
      await Promise.race([Promise.all(this.open), new Promise<void>((wake) => this.wakes.push(wake))]);
  }

  begin(): void {
    const { messages, pendingToolCalls, pendingApprovals, state, usage, cost, contextTokens } = this.session;
    this.screen = {
      ...this.screen,
      agents: agentsOf(messages),
      ...(usage ? { usage } : {}),
      ...(cost ? { cost } : {}),
      ...(contextTokens === undefined ? {} : { contextTokens }),
    };
    const left = messages.length - pastShownMax;
    if (left > 0)
      this.notice("quiet", [`${left} earlier messages are not shown; \`loopwright sessions show ${this.session.id}\` has all.`]);
    this.screen = screenOf(this.screen, left > 0 ? messages.slice(left) : messages);
    if (pendingToolCalls.length + pendingApprovals.length > 0)
      this.screen = { ...this.screen, pending: pendingToolCalls, approvals: pendingApprovals, activity: "asking" };
    else if (state !== "resting") {
      const cutOff = "The last run was interrupted. It continues now; everything recorded is kept.";
      this.notice(state === "cut-off" ? "warning" : "quiet", [state === "cut-off" ? cutOff : "A run is under way."]);
      this.follow(this.session.proceed());
    }
    this.onChange();
  }

  get question(): Question | undefined {
    return [...this.screen.approvals, ...this.screen.pending].find((call) => !this.answers.has(call.callKey));
  }

  get page(): number {
    return this.turned.get(this.question?.callKey ?? "") ?? 0;
  }

  send(text: string): void {
    const { question, page } = this;
    if (!question) {
      this.follow(this.session.say(text, this.model ? { model: this.model } : {}));
      return;
    }
    if (isApproval(question) && page < approvalPages(question.args).length - 1 && decisionOf(text)?.decision !== "deny") {
      // What was not shown to its end is not allowed; anything else than `m` shows the same page again.
      if (asksForMore(text)) this.turned.set(question.callKey, page + 1);
      this.onChange();
      return;
    }
    const answer = answerOf(question, text);
    // What is no decision is asked again; the question shows how to answer.
    if (answer) this.answers.set(question.callKey, answer);
    if (this.question) {
      this.onChange();
      return;
    }
    const answers = [...this.answers.values()];
    const results = answers.flatMap((one) => ("role" in one ? [one] : []));
    const decisions = answers.flatMap((one) => ("role" in one ? [] : [one]));
    this.follow(this.session.answer({ results, decisions }));
  }

  async abort(): Promise<void> {
    this.answers.clear();
    try {
      await this.session.abort();
    } catch (error) {
      this.notice("error", complaintOf(error));
    }
  }

  notice(tone: Tone, lines: readonly string[]): void {
    this.screen = addNotice(this.screen, tone, lines);
    this.onChange();
  }

  useModel(model: string): void {
    this.model = model;
  }

  async end(): Promise<void> {
    await this.session.leave();
    this.unsubscribe();
  }

  /** Keeps count of the run and shows how it ended when that is not what was hoped for. */
  private follow(answer: Promise<AnswerEnd>): void {
    const ended = answer
      .then(
        (result) => this.account(result),
        (error: unknown) => this.notice("error", complaintOf(error)),
      )
      .finally(() => {
        this.open.delete(ended);
        this.answers.clear();
        this.onChange();
      });
    this.open.add(ended);
    this.onChange();
  }

  private account(result: AnswerEnd): void {
    if (result.status !== "error" || !result.error || (result.runId !== undefined && result.runId === this.lastFailedRun)) return;
    this.lastFailedRun = result.runId;
    this.notice("error", complaintOf(result.error, result.vendorMessage));
  }

  private fold(events: readonly AgentEvent[]): void {
    const now = Date.now();
    for (const event of events) this.screen = foldScreen(this.screen, event, now);
    this.onChange();
  }
}

/** The words as what the call waits for; `undefined`: they are no decision. */
function answerOf(question: Question, text: string): Answer | undefined {
  const { toolCallId, callKey } = question;
  if (!isApproval(question)) return { role: "tool_result", toolCallId, callKey, content: answerTo(question, text) };
  const decision = decisionOf(text);
  return decision && { callKey, argsDigest: question.argsDigest, ...decision };
}

/** A conversation over a session that is ready. `onChange` is called after every change. */
export function createConversation(session: ChatSession, onChange: () => void): Conversation {
  return new SessionConversation(session, onChange);
}
