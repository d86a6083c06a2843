/*
 * Owns: noticing that the data of Redis was restored to an older state, as after a restore from a backup, a flush or the promotion of a
 * stale replica. Each store leaves a mark that rises with every look and keeps the last one that Redis acknowledged, in memory and, where it has
 * one, in a file. Data that holds an older mark of it, or none, was restored.
 * Invariants
 *  M1 what one process notices is written into the data before it is reported: from then on no process claims or appends, whatever it knows itself;
 *  M2 nothing but the acceptance of a person takes that away. It begins a new generation: marks of the one before count no more.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Connection } from "../connection/connection.ts";
import { rolledBack, unavailable } from "../connection/redis-fault.ts";
import { listOf, numberOf, textOf } from "../connection/reply.ts";
import { answerOf } from "../connection/script.ts";
import type { StoreKeys } from "../keys.ts";
import { acceptScript, markScript } from "./mark-scripts.ts";

/** What is known of one generation of the data: the marks that it has acknowledged, by their writers. */
interface KnownMarks {
  readonly generation: string;
  readonly marks: Readonly<Record<string, number>>;
}

export interface MarkParts {
  readonly connection: Connection;
  readonly keys: StoreKeys;
  /** Outlives the process: what it knew, its successor knows. */
  readonly file: string | undefined;
  /** False where the loss of everything was accepted. */
  readonly isChecked: boolean;
  /** The data continues in a new generation: what was known of its sessions counts no more. */
  readonly onAccepted: () => void;
}

/** Marks of other processes that a file keeps. */
const fileMarksMax = 16;

export class RestoreDetection {
  readonly #parts: MarkParts;
  readonly #writer = randomBytes(8).toString("hex");
  #known: KnownMarks | undefined;
  #loading: Promise<void> | undefined;

  constructor(parts: MarkParts) {
    this.#parts = parts;
  }

  /**
   * Leaves a mark, after all that are known were found.
   * @throws AgentError STORE_ROLLED_BACK; STORE_UNAVAILABLE while Redis has just begun and others may know more of it; STORE_*
   */
  async look(): Promise<void> {
    const { connection, keys, file, isChecked, onAccepted } = this.#parts;
    if (isChecked && file !== undefined) {
      this.#loading ??= this.#load(file);
      await this.#loading;
    }
    const known = isChecked ? this.#known : undefined;
    const pairs = Object.entries(known?.marks ?? {}).flatMap(([writer, mark]) => [writer, String(mark)]);
    const args = [this.#writer, known?.generation ?? "", randomBytes(8).toString("hex"), isChecked ? "1" : "", ...pairs];
    const [type, first, second] = listOf(await answerOf(connection, markScript, { keys: [keys.store, keys.marks], args }));
    if (type === "back") throw rolledBack(connection.where, numberOf(first), numberOf(second));
    if (type === "young")
      throw unavailable(connection.where, "has just been started, and processes that know more of its data are waited for");
    const generation = textOf(first) ?? "";
    const isSame = this.#known?.generation === generation;
    if (this.#known && !isSame) onAccepted();
    this.#known = { generation, marks: { ...(isSame ? this.#known?.marks : {}), [this.#writer]: numberOf(second) } };
    if (isChecked && file !== undefined) await this.#keep(file);
  }

  /** Leaves a mark beside other work, so that it is newer than what this process knows of the data. The next look reports what it finds. */
  lookBeside(): void {
    void this.look().catch(() => {});
  }

  /** Takes the data as it is. False when it had not gone back. */
  async accept(): Promise<boolean> {
    const { connection, keys } = this.#parts;
    const args = [randomBytes(8).toString("hex")];
    return (await answerOf(connection, acceptScript, { keys: [keys.store, keys.marks], args })) === 1;
  }

  async #load(file: string): Promise<void> {
    this.#known ??= await readMarks(file);
  }

  /** Beside the marks of others of this machine. What cannot be kept is known to this process alone. */
  async #keep(file: string): Promise<void> {
    if (!this.#known) return;
    const { generation, marks } = this.#known;
    const before = await readMarks(file);
    const others = before?.generation === generation ? Object.entries(before.marks) : [];
    const newest = [...others, ...Object.entries(marks)].sort(([, a], [, b]) => b - a).slice(0, fileMarksMax);
    const draft = `${file}.${this.#writer}`;
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(draft, JSON.stringify({ generation, marks: Object.fromEntries(newest.reverse()) }), { mode: 0o600 });
      await rename(draft, file);
    } catch {
      // The next look tries again.
    }
  }
}

async function readMarks(file: string): Promise<KnownMarks | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    if (typeof value !== "object" || value === null || !("generation" in value) || !("marks" in value)) return undefined;
    const { generation, marks } = value;
    if (typeof generation !== "string" || typeof marks !== "object" || marks === null) return undefined;
    return { generation, marks: Object.fromEntries(Object.entries(marks).filter(([, mark]) => typeof mark === "number")) };
  } catch {
    return undefined;
  }
}
