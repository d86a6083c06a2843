import { AgentError } from "@loopwright/core";
import { idPattern, isId, type SessionRef } from "@loopwright/core/ports";

/** Room for the longest number of a slot or a date. */
const digits = 16;
/** The longest name of a folder or file that every file system takes is 255 bytes. */
const segmentMax = 200;
/** The same where a session's id follows in the same name. */
const markSegmentMax = 120;
/** Objects in S3 have keys of at most 1,024 bytes; some of it belongs to the prefix. */
const blobKeyMax = 800;

/** The same ids, checked. @throws AgentError INPUT_INVALID */
export function checkRef({ scope, session }: SessionRef): SessionRef {
  return { scope: checkId(scope), session: checkId(session) };
}

function checkId(id: string): string {
  if (isId(id)) return id;
  throw new AgentError("INPUT_INVALID", { message: `\`${id.slice(0, 80)}\` is not an id.`, fix: `An id matches ${idPattern.source}.` });
}

const padded = (value: number): string => String(value).padStart(digits, "0");

/** Where what belongs to the log of a session lies. */
export interface LogKeys {
  readonly root: string;
  readonly slots: string;
  slot(slot: number): string;
  /** There when the log was seen to be damaged. Comes after all slots, so that the look beyond the tail finds it. */
  readonly damage: string;
  readonly segments: string;
  readonly checkpoint: string;
  readonly lease: string;
  readonly summary: string;
  readonly snapshots: string;
}

export function logKeysOf({ scope, session }: SessionRef): LogKeys {
  const root = `sessions/${scope}/${session}/`;
  return {
    root,
    slots: `${root}slots/`,
    slot: (slot) => `${root}slots/${padded(slot)}`,
    damage: `${root}slots/damaged`,
    segments: `${root}segments/`,
    checkpoint: `${root}checkpoint`,
    lease: `leases/${scope}/${session}`,
    summary: `${summariesOf(scope)}${session}`,
    snapshots: `drafts/${scope}/${session}/`,
  };
}

export const summariesOf = (scope: string): string => `summaries/${checkId(scope)}/`;

/** Where marks of the sessions of a scope lie that rest, the one changed last first: of the children of a session, or of none. */
export function restingMarksOf(scope: string, parent: string | undefined): string {
  return parent === undefined ? `lists/${checkId(scope)}/resting/` : `lists/${checkId(scope)}/children/${checkId(parent)}/`;
}

/** Where marks of the sessions of a scope lie that a process may be writing. */
export const writingMarksOf = (scope: string): string => `lists/${checkId(scope)}/writing/`;

/** The children of a session, or the sessions that are children of none. */
export interface Family {
  readonly scope: string;
  readonly parent?: string | undefined;
}

/** A session in the order of lists, and the summary that holds it there. */
export interface RestingMark {
  readonly id: string;
  readonly updatedAt: number;
  /** The `nonce` of that summary. */
  readonly nonce: string;
  readonly parent?: string | undefined;
}

export function restingMarkKey(scope: string, { id, updatedAt, nonce, parent }: RestingMark): string {
  return `${restingMarksFrom({ scope, parent }, updatedAt)}.${id}.${nonce}`;
}

/** A key before all marks of this moment, and behind all marks of later ones. */
export function restingMarksFrom({ scope, parent }: Family, updatedAt: number): string {
  return restingMarksOf(scope, parent) + padded(Number.MAX_SAFE_INTEGER - markedDate(updatedAt));
}

export function restingMarkOf({ scope, parent }: Family, key: string): RestingMark | undefined {
  const [date, id, nonce] = key.slice(restingMarksOf(scope, parent).length).split(".");
  if (date === undefined || id === undefined || nonce === undefined || !isId(id)) return undefined;
  return { id, updatedAt: Number.MAX_SAFE_INTEGER - Number(date), nonce };
}

/** One for each time that a process began to write: it removes its own alone. */
export function writingMarkKey({ scope, session }: SessionRef, nonce: string): string {
  return `${writingMarksOfSession({ scope, session })}${nonce}`;
}

/** What the keys of all writing marks of a session begin with. */
export const writingMarksOfSession = ({ scope, session }: SessionRef): string => `${writingMarksOf(scope)}${checkId(session)}.`;

export function sessionOfWritingMark(scope: string, key: string): string | undefined {
  const [id = ""] = key.slice(writingMarksOf(scope).length).split(".");
  return isId(id) ? id : undefined;
}

export function slotOfKey(key: string): number {
  return Number(key.slice(key.lastIndexOf("/") + 1));
}

/** A mark of a session that may need an owner from a date on. */
export interface DueMark {
  readonly ref: SessionRef;
  /** Whole milliseconds since the epoch, not negative. */
  readonly date: number;
  /** The slot of the log that records it. */
  readonly slot: number;
}

export const dueMarks = "due/";

/** The date as a key can hold it: never later than the date itself. */
export function markedDate(due: number): number {
  return Math.min(Math.max(0, Math.floor(due)), Number.MAX_SAFE_INTEGER);
}

/** One name, no folders: in a file system those would stay for ever, and every look at the marks would go through them. */
export function dueMarkKey({ ref, date, slot }: DueMark): string {
  return `${dueMarks}${padded(date)}.${ref.scope}.${ref.session}.${padded(slot)}`;
}

export function dueMarkOf(key: string): DueMark | undefined {
  const [date, scope, session, slot] = key.slice(dueMarks.length).split(".");
  if (date === undefined || scope === undefined || session === undefined || slot === undefined) return undefined;
  if (!isId(scope) || !isId(session)) return undefined;
  return { ref: { scope, session }, date: Number(date), slot: Number(slot) };
}

/** The key of an application's blob, whatever its characters. @throws AgentError INPUT_INVALID when it is too long */
export function blobKeyOf(scope: string, key: string): string {
  return `${blobsOf(scope)}${folded(blobName(key))}`;
}

function blobName(key: string): string {
  const name = escaped(key);
  if (name.length > 0 && name.length <= blobKeyMax) return name;
  throw new AgentError("INPUT_INVALID", { message: `A blob key of ${key.length} characters is too ${name ? "long" : "short"}.` });
}

const blobsOf = (scope: string): string => `blobs/${checkId(scope)}/`;

/** The longest prefix of keys in the store that all blobs of the scope with this prefix share. */
export function blobPrefixOf(scope: string, prefix: string): string {
  return `${blobsOf(scope)}${foldedPrefix(prefix, segmentMax)}`;
}

function foldedPrefix(prefix: string, max: number): string {
  const name = escaped(prefix);
  // At the end of a segment it is not known yet whether a further one follows.
  const whole = Math.floor(name.length / max);
  return folded(name.length % max === 0 ? name.slice(0, Math.max(0, whole * max - 1)) : name, max);
}

/** The application's key of a blob of the scope in the store. */
export function blobNameOf(scope: string, key: string): string {
  return unescaped(key.slice(blobsOf(scope).length));
}

/** The key of the value of a blob that a session owns. @throws AgentError INPUT_INVALID when it is too long */
export function ownedKeyOf(ref: SessionRef, key: string): string {
  return `${ownedBy(ref)}${folded(blobName(key))}`;
}

/** What the keys of all values begin with that a session owns. */
export function ownedBy(ref: SessionRef): string {
  const { scope, session } = checkRef(ref);
  return `owned/${scope}/${session}/`;
}

/** The application's key of a value that the session owns. */
export function ownedNameOf(ref: SessionRef, key: string): string {
  return unescaped(key.slice(ownedBy(ref).length));
}

/** The key of an empty object that marks a session as an owner of a blob, so that readers that do not know the session find it. No folder has its name. */
export function ownerMarkKey({ scope, session }: SessionRef, key: string): string {
  return `${ownerMarksOf(scope, key)}${session}`;
}

/** What the keys of all marks of the owners of one blob begin with. */
export function ownerMarksOf(scope: string, key: string): string {
  return `${ownersOf(scope)}${folded(blobName(key), markSegmentMax)}.`;
}

const ownersOf = (scope: string): string => `owners/${checkId(scope)}/`;

/** The longest prefix that the marks of all blobs with this prefix share. */
export function ownerPrefixOf(scope: string, prefix: string): string {
  return `${ownersOf(scope)}${foldedPrefix(prefix, markSegmentMax)}`;
}

/** A mark taken apart: the application's key, and the session. */
export function ownerOfMark(scope: string, key: string): { readonly name: string; readonly session: string } {
  const end = key.lastIndexOf(".");
  return { name: unescaped(key.slice(ownersOf(scope).length, end)), session: key.slice(end + 1) };
}

function unescaped(folds: string): string {
  const name = folds.replaceAll("~/", "");
  return new TextDecoder().decode(
    Uint8Array.from(
      [...name.matchAll(/=([0-9a-f]{2})|(.)/gs)].map(([, hex, plain = ""]) => (hex ? Number.parseInt(hex, 16) : plain.charCodeAt(0))),
    ),
  );
}

/** The key of a draft. */
export function snapshotKeyOf(ref: SessionRef, name: string): string {
  return `${logKeysOf(checkRef(ref)).snapshots}${folded(escaped(name).slice(0, blobKeyMax)) || "="}`;
}

/** Lower-case letters, digits, `_` and `-` stay; any other byte is `=` and two digits: no file system takes two keys for one. */
function escaped(text: string): string {
  return [...new TextEncoder().encode(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[a-z0-9_-]/.test(character) ? character : `=${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
}

/** In segments that are short enough; all but the last end with `~`, so that a folder never has the name of an object. */
function folded(name: string, max: number = segmentMax): string {
  return (name.match(new RegExp(`.{1,${max}}`, "g")) ?? []).join("~/");
}
