/*
 * Owns: what is cut of the messages of one growing list so that it fits. Does not own: the list, what is compacted of it.
 * Invariants
 *  W1 what was cut stays cut, to the same text: a vendor's cache of the beginning survives the turns that follow;
 *  W2 it follows from the list and its room alone: a process that begins with the whole list and the same room cuts the same;
 *  W3 no cut parts a character, no message becomes empty, and calls stay as they are;
 *  W4 a message is looked at once; what a request costs is what is new in it, and a cut the messages that may be cut.
 */
import type { Message, UserMessage } from "@loopwright/core";
import type { MessageSizes } from "@loopwright/core/ports";
import { cutInput, cutMessage, hasMedia, keptMin, shortenFiles } from "./cut-message.ts";
import { squeezed, squeezeLevels } from "./squeeze.ts";

/** How full the room is after a cut: the rest is for the next turns, which would else cut, and lose the vendor's cache, each time. */
const filledAfterCut = 0.75;
/** The same where also messages are cut that are usually spared: the less, the better. */
const filledAfterSqueeze = 0.9;
/** The share of the room that one input may have where all of it does not fit. */
const inputShare = 0.5;
/** The same where nothing else helps, each tried before the next. */
const squeezedShares = [0.25, 0.125] as const;

/** Into what a list is fitted, in units of `MessageSizes`. */
export interface Room {
  /** For all messages. */
  readonly all: number;
  /** For results that can be cut. */
  readonly results: number;
  /** For images and files of earlier inputs. */
  readonly attachments: number;
}

interface Candidate {
  readonly place: number;
  readonly size: number;
}

type Sizes = Pick<MessageSizes, "sizeOf">;

/** What was cut of one list of messages, which only grows. */
export class Cuts {
  readonly #messages: readonly Message[];
  readonly #sizes: Sizes;
  /** What is sent; the list itself until something is cut. */
  #shown: Message[] | undefined;
  /** No request has `#shown` yet. */
  #isOwn = false;
  /** Sizes of the shown messages, by place. */
  readonly #units: number[] = [];
  #results: Candidate[] = [];
  #media: Candidate[] = [];
  readonly #inputs: number[] = [];
  #done = 0;
  #left = 0;
  #ofResults = 0;
  #ofMedia = 0;
  #isTight = false;
  #cutCount = 0;

  constructor(messages: readonly Message[], sizes: Sizes) {
    this.#messages = messages;
    this.#sizes = sizes;
  }

  /** True if this is about the list, as long as it was or longer. */
  isOf(messages: readonly Message[], sizes: Sizes): boolean {
    return this.#messages === messages && this.#sizes === sizes && this.#done <= messages.length;
  }

  /** The size of what is sent. */
  get left(): number {
    return this.#left;
  }

  /** The sizes of the shown messages, by place. */
  get units(): readonly number[] {
    return this.#units;
  }

  /** How many results, and inputs with images or files, were cut so far. */
  get cutCount(): number {
    return this.#cutCount;
  }

  /** True where more than large results, earlier media and large inputs had to be cut: only a compaction makes room again. */
  get isTight(): boolean {
    return this.#isTight;
  }

  /** Takes what is new of the list, up to the place `end`, and cuts what may be cut before a compaction is considered. */
  take(room: Room, end: number = this.#messages.length): void {
    for (; this.#done < end; this.#done++) {
      const message = this.#messages[this.#done] as Message;
      // A request went out before each answer: what it left out stays out.
      if (message.role === "assistant") this.#squeeze(room);
      this.#take(message, this.#done);
    }
    this.#shrink(room);
  }

  /** What is sent of the list. Shared; it grows in place until the next cut. */
  fitted(room: Room, end: number = this.#messages.length): readonly Message[] {
    this.take(room, end);
    this.#squeeze(room);
    return this.#shown ?? this.#messages;
  }

  /** The message as it is sent, if it is cut. */
  cutAt(place: number): Message | undefined {
    const shown = this.#shown?.[place];
    return shown === this.#messages[place] ? undefined : shown;
  }

  #take(message: Message, place: number): void {
    const size = this.#sizes.sizeOf(message);
    this.#left += size;
    this.#units.push(size);
    this.#shown?.push(message);
    if (message.role === "tool_result" && (size > keptMin || hasMedia(message))) {
      this.#results.push({ place, size });
      this.#ofResults += size;
    }
    if (message.role !== "user") return;
    if (size > keptMin) this.#inputs.push(place);
    if (!hasMedia(message)) return;
    this.#media.push({ place, size });
    this.#ofMedia += size;
  }

  #shrink({ all, results, attachments }: Room): void {
    this.#isOwn = false;
    if (this.#left > all || this.#ofResults > results) {
      const [goal, goalOfResults] = [
        this.#left > all ? all * filledAfterCut : all,
        results * (this.#ofResults > results ? filledAfterCut : 1),
      ];
      const isEnough = (): boolean => this.#left <= goal && this.#ofResults <= goalOfResults;
      this.#results = this.#cutSome(this.#results.sort(largestFirst), isEnough, (freed) => (this.#ofResults -= freed));
    }
    if (this.#left > all || this.#ofMedia > attachments) {
      const last = this.#lastInput();
      const [now, earlier] = [this.#media.filter(({ place }) => place === last), this.#media.filter(({ place }) => place !== last)];
      const [goal, goalOfMedia] = [this.#left > all ? all * filledAfterCut : all, attachments * filledAfterCut];
      const isEnough = (): boolean => this.#left <= goal && this.#ofMedia <= goalOfMedia;
      this.#media = [...this.#cutSome(earlier, isEnough, (freed) => (this.#ofMedia -= freed)), ...now];
      this.#shortenFilesOf(now, Math.max(this.#left - goal, this.#ofMedia - goalOfMedia));
    }
    if (this.#left > all) this.#cutInputs(all, inputShare);
  }

  /** Of text files of the last input less is shown: its images and other files are never left out. */
  #shortenFilesOf(now: readonly Candidate[], over: number): void {
    const [candidate] = now;
    if (!candidate || over <= 0) return;
    const { place } = candidate;
    const input = (this.#shown?.[place] ?? this.#messages[place]) as UserMessage;
    const shortened = shortenFiles(input, over);
    if (shortened === input) return;
    this.#show(place, shortened);
    const size = this.#units[place] as number;
    this.#media = this.#media.map((one) => (one === candidate ? { place, size } : one));
    this.#ofMedia += size - candidate.size;
  }

  /**
   * Cuts anything but calls, so that what goes out now fits: inputs may have joined after the compaction of this call, or nothing may be compacted.
   * The next call compacts.
   */
  #squeeze(room: Room): void {
    this.#shrink(room);
    if (this.#left <= room.all) return;
    this.#isTight = true;
    const all = room.all * filledAfterSqueeze;
    for (const share of squeezedShares) if (this.#left > all) this.#cutInputs(all, share);
    for (const level of squeezeLevels) {
      for (const ofInputs of [false, true]) {
        for (let place = 0; place < this.#done; place++) {
          if (this.#left <= all) return;
          const message = this.#shown?.[place] ?? (this.#messages[place] as Message);
          if ((message.role === "user") !== ofInputs || (this.#units[place] as number) <= level) continue;
          const less = squeezed(message, level);
          if (this.#sizes.sizeOf(less) < (this.#units[place] as number)) this.#show(place, less);
        }
      }
    }
  }

  /** Cuts in the given order until it is enough; gives back what was spared. */
  #cutSome(candidates: readonly Candidate[], isEnough: () => boolean, count: (freed: number) => void): Candidate[] {
    const spared = candidates.findIndex(({ place, size }) => {
      if (isEnough()) return true;
      this.#show(place, cutMessage(this.#messages[place] as Message));
      this.#cutCount++;
      count(size);
      return false;
    });
    return spared < 0 ? [] : candidates.slice(spared);
  }

  /** Inputs that alone have more than their share of the room, the largest first. */
  #cutInputs(all: number, ofRoom: number): void {
    const most = Math.max(keptMin, Math.floor(all * ofRoom));
    const large = this.#inputs.filter((place) => (this.#units[place] ?? 0) > most);
    for (const place of large.sort((a, b) => (this.#units[b] ?? 0) - (this.#units[a] ?? 0) || a - b)) {
      if (this.#left <= all) return;
      const input = (this.#shown?.[place] ?? this.#messages[place]) as UserMessage;
      // A character may be a whole token: four units.
      const share = most / (this.#units[place] as number);
      this.#show(place, cutInput(input, Math.max(keptMin / 4, Math.floor(textLength(input) * share) - noteLength)));
    }
  }

  #show(place: number, message: Message): void {
    // A request that went out keeps the list that it was given.
    if (!this.#shown || !this.#isOwn) this.#shown = (this.#shown ?? this.#messages).slice(0, this.#done);
    this.#isOwn = true;
    this.#shown[place] = message;
    const size = this.#sizes.sizeOf(message);
    this.#left += size - (this.#units[place] as number);
    this.#units[place] = size;
  }

  #lastInput(): number {
    for (let place = this.#done - 1; place >= 0; place--) if (this.#messages[place]?.role === "user") return place;
    return -1;
  }
}

const noteLength = 100;

const textLength = ({ content }: UserMessage): number =>
  typeof content === "string" ? content.length : content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);

const largestFirst = (a: Candidate, b: Candidate): number => b.size - a.size || a.place - b.place;
