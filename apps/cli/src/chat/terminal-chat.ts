import { footerLines } from "../screen/footer-lines.ts";
import type { Activity } from "../screen/screen.ts";
import { createScreenWriter, type ScreenWriter } from "../screen/screen-writer.ts";
import { inputRows } from "../terminal/input-lines.ts";
import { type Command, emptyLine, type Key, type Line, pressKey } from "../terminal/line-editor.ts";
import { wrapLines } from "../terminal/lines.ts";
import { createLiveRegion, type LiveRegion } from "../terminal/live-region.ts";
import { approvalText } from "./approval-lines.ts";
import type { ChatRoom } from "./chat-room.ts";
import { type Conversation, createConversation } from "./conversation.ts";
import { isApproval, questionLines } from "./question-lines.ts";
import { runSlashCommand } from "./slash-command.ts";
import { takeTerminal } from "./take-terminal.ts";

const frameMs = 1000 / 30;
const spinnerMs = 120;
/** How long a second Ctrl+C counts as one with the first. */
const quitWindowMs = 2_000;
/** How long a run that was stopped is waited for on the way out. */
const farewellMs = 6_000;
const widthMax = 100;

/**
 * Owns: the terminal while a person talks. Everything that is finished goes to the scrollback once; only the block under way, the
 * input and the footer are drawn again, at most 30 times a second.
 */
class TerminalChat {
  private conversation: Conversation;
  private writer: ScreenWriter = createScreenWriter();
  private readonly region: LiveRegion;
  private line: Line = emptyLine;
  private readonly sent: string[] = [];
  private sentAt = 0;
  private showThinking = false;
  private showTools = false;
  /** Lines to print above everything, once. */
  private announced: string[] = [];
  private hint: { readonly text: string; readonly until: number } | undefined;
  private activity: { readonly name: Activity; readonly since: number } = { name: "idle", since: Date.now() };
  private model: string;
  private timer: NodeJS.Timeout | undefined;
  private drawnAt = 0;
  private isOver = false;
  private leave: () => void = () => {};
  /** Text that was sent and not yet answered by a word: Esc gives it back. */
  private unanswered: { readonly text: string; readonly blocks: number } | undefined;

  /** The call and the page of its arguments that went to the scrollback last. */
  private pageShown: string | undefined;

  private readonly room: ChatRoom;

  constructor(room: ChatRoom) {
    this.room = room;
    this.region = createLiveRegion(room.output);
    this.model = room.session.model ?? room.place.defaultModel;
    this.conversation = createConversation(room.session, () => this.schedule());
  }

  async run(): Promise<void> {
    const restore = takeTerminal(this.room, {
      press: (text, key) => this.press(text, key),
      resize: () => this.schedule(),
      end: () => this.quit(),
    });
    const spinner = setInterval(() => {
      if (this.conversation.screen.activity !== "idle" || this.hint) this.schedule();
    }, spinnerMs);
    try {
      this.welcome();
      await new Promise<void>((resolve) => {
        this.leave = resolve;
      });
      await this.farewell();
    } finally {
      clearInterval(spinner);
      clearTimeout(this.timer);
      this.isOver = true;
      restore();
    }
  }

  private welcome(): void {
    const { style, place } = this.room;
    this.announced.push(style.bold("Loopwright"), ...wrapLines(style.dim(place.introduction), this.width()));
    this.announced.push(
      style.dim(
        `Nothing is sent before you ask.${place.isOffline ? " Try: help · what time is it? · 6 * 7 · client tool · long answer" : ""}`,
      ),
      "",
    );
    this.conversation.begin();
    this.schedule();
  }

  private async farewell(): Promise<void> {
    if (this.conversation.isBusy && !this.conversation.session.outlivesChat) {
      await this.conversation.abort();
      await Promise.race([this.conversation.rest(), new Promise((resolve) => setTimeout(resolve, farewellMs).unref())]);
    }
    this.draw();
    this.region.clear();
    this.isOver = true;
    const { session } = this.conversation;
    const { isKept } = session;
    await this.conversation.end();
    if (isKept) this.room.output.write(`Resume: ${this.room.place.resumeCommand(session.id)}\n`);
  }

  private width(): number {
    return Math.max(20, Math.min(this.room.output.columns - 1, widthMax));
  }

  private schedule(): void {
    if (this.timer || this.isOver) return;
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        this.draw();
      },
      Math.max(0, frameMs - (Date.now() - this.drawnAt)),
    );
  }

  private draw(): void {
    if (this.isOver) return;
    const now = Date.now();
    this.drawnAt = now;
    if (this.hint && this.hint.until <= now) this.hint = undefined;
    const { screen } = this.conversation;
    if (screen.activity !== this.activity.name) this.activity = { name: screen.activity, since: now };
    const { style } = this.room;
    const frame = { width: this.width(), style };
    const { question, page } = this.conversation;
    const input = inputRows(this.line, { width: Math.max(20, this.room.output.columns - 1), style, prompt: question ? "? " : "> " });
    const approval = question && isApproval(question) ? approvalText(question, frame, page) : undefined;
    const asked = approval ? [...approval.question, ...approval.keys] : question ? questionLines(question, frame) : [];
    const footer = footerLines(screen, this.footerState(now), frame);
    const room = this.room.output.rows - 2 - input.rows.length - asked.length - footer.length;
    const view = { frame, liveMax: Math.max(1, room), showThinking: this.showThinking, hasKeys: true, showTools: this.showTools, now };
    const { finished, live } = this.writer.write(screen, view);
    const above = [...live, "", ...asked];
    const lines = [...above, ...input.rows, ...footer];
    const cut = Math.max(0, lines.length - (this.room.output.rows - 1));
    // What a person decides on goes to the scrollback, where all of it can be read, however small the terminal is.
    const read = question && approval && this.isNewPage(`${question.callKey} ${page}`) ? ["", ...approval.question, ...approval.page] : [];
    this.region.draw({
      finished: [...this.announced.splice(0), ...finished, ...read],
      live: lines.slice(cut),
      cursor: { row: Math.max(0, above.length + input.cursor.row - cut), column: input.cursor.column },
    });
  }

  private isNewPage(name: string): boolean {
    const isNew = name !== this.pageShown;
    this.pageShown = name;
    return isNew;
  }

  private footerState(now: number): Parameters<typeof footerLines>[1] {
    const { place } = this.room;
    const { model } = this;
    const contextMax = place.contextMax(model);
    return { provider: place.provider, model, contextMax, now, since: this.activity.since, hint: this.hint?.text };
  }

  private press(text: string | undefined, key: Key): void {
    const effect = pressKey(this.line, text, key);
    if (effect.type === "command") this.command(effect.name);
    else if (effect.type === "send") this.send(effect.line.text);
    else this.line = effect.line;
    this.schedule();
  }

  private command(name: Command): void {
    if (name === "abort") this.stop();
    else if (name === "interrupt") this.interrupt();
    else if (name === "end-of-input") this.quit();
    else if (name === "older" || name === "newer") this.recall(name === "older" ? -1 : 1);
    else if (name === "thinking") {
      this.showThinking = !this.showThinking;
      this.say(`Thinking is ${this.showThinking ? "shown" : "folded"} from the next block on`);
    } else if (name === "tools") {
      this.showTools = !this.showTools;
      this.say(`Tools are shown ${this.showTools ? "in full" : "in short"} from the next block on`);
    }
  }

  private say(text: string): void {
    this.hint = { text, until: Date.now() + quitWindowMs };
  }

  private interrupt(): void {
    if (this.line.text !== "") this.line = emptyLine;
    else if (this.hint?.text.startsWith("Ctrl+C")) this.quit();
    else this.say("Ctrl+C again quits");
  }

  private quit(): void {
    this.leave();
  }

  /** Stops the run; words that nothing came of yet are given back. */
  private stop(): void {
    if (!this.conversation.isBusy && !this.conversation.question && this.activity.name === "idle") return;
    const answered = this.conversation.screen.blocks.slice(this.unanswered?.blocks).some((block) => block.kind !== "user");
    if (this.unanswered && !answered && this.line.text === "") {
      this.line = { ...emptyLine, text: this.unanswered.text, cursor: this.unanswered.text.length };
    }
    void this.conversation.abort();
  }

  private recall(step: number): void {
    this.sentAt = Math.max(0, Math.min(this.sent.length, this.sentAt + step));
    const text = this.sent[this.sentAt] ?? "";
    this.line = { ...emptyLine, text, cursor: text.length };
  }

  private send(text: string): void {
    if (text.trim() === "") return;
    this.line = emptyLine;
    this.sentAt = this.sent.push(text);
    void this.deliver(text);
  }

  private async deliver(text: string): Promise<void> {
    const isCommand = await runSlashCommand(text, {
      place: this.room.place,
      conversation: this.conversation,
      model: this.model,
      useModel: (model) => {
        this.model = model;
        this.conversation.useModel(model);
      },
      startNew: () => this.startNew(),
      quit: () => this.quit(),
    });
    if (isCommand) return;
    const isBusy = this.conversation.isBusy;
    if (isBusy) this.say("Sent: it joins before the next model call");
    this.unanswered = isBusy ? undefined : { text, blocks: this.conversation.screen.blocks.length };
    this.conversation.send(text);
  }

  private async startNew(): Promise<void> {
    if (this.conversation.isBusy) {
      this.conversation.notice("warning", ["The agent is at work. Esc stops it."]);
      return;
    }
    const { session } = this.conversation;
    this.draw();
    await this.conversation.end();
    this.announced.push(
      "",
      this.room.style.dim(session.isKept ? `Resume: ${this.room.place.resumeCommand(session.id)}` : "A new session."),
      "",
    );
    this.writer = createScreenWriter();
    this.conversation = createConversation(await this.room.place.open(undefined), () => this.schedule());
    this.schedule();
  }
}

/** Talks on a terminal until the person leaves. */
export async function terminalChat(room: ChatRoom): Promise<void> {
  await new TerminalChat(room).run();
}
