import type { KeptText } from "./kept-text.ts";

/** A file that the server already has and the next message will carry. */
export interface DraftFile {
  readonly blob: string;
  readonly mediaType: string;
  readonly name?: string;
  readonly sizeBytes: number;
}

/** Words and files that were not sent yet. */
export interface Draft {
  readonly text: string;
  readonly files: readonly DraftFile[];
  /** Set once sending was tried: the same key again is never accepted twice. */
  readonly key?: string;
}

/** Drafts by session; that of a conversation which does not exist yet under the empty id. */
export interface Drafts {
  get(sessionId: string): Draft;
  set(sessionId: string, draft: Draft): void;
  clear(sessionId: string): void;
}

export const emptyDraft: Draft = { text: "", files: [] };

/** Longest text that is kept: beyond it a draft lives only as long as the page. */
export const draftTextMax = 200_000;
const sessionsMax = 100;
const keyPrefix = "draft.";

/** Drafts that outlive the page, in `kept`: the last 100 sessions at most. Those of a team other than the user's first have its name. */
export function createDrafts(kept: KeptText, team?: string): Drafts {
  const seen = new Map<string, Draft>();
  const keyOf = (sessionId: string): string => keyPrefix + (team === undefined ? "" : `${team}.`) + sessionId;
  const clear = (sessionId: string): void => {
    seen.delete(sessionId);
    kept.set(keyOf(sessionId), undefined);
  };
  return {
    get(sessionId) {
      const draft = seen.get(sessionId) ?? draftFrom(kept.get(keyOf(sessionId)));
      seen.set(sessionId, draft);
      return draft;
    },
    set(sessionId, draft) {
      if (draft.text === "" && draft.files.length === 0) {
        clear(sessionId);
        return;
      }
      seen.set(sessionId, draft);
      if (draft.text.length > draftTextMax) return;
      kept.set(keyOf(sessionId), JSON.stringify({ ...draft, at: Date.now() }));
      makeRoom(kept);
    },
    clear,
  };
}

/** Lets go of the oldest drafts. */
function makeRoom(kept: KeptText): void {
  const keys = kept.keys().filter((key) => key.startsWith(keyPrefix));
  if (keys.length <= sessionsMax) return;
  const byAge = keys.map((key) => ({ key, at: numberAt(kept.get(key)) })).sort((a, b) => a.at - b.at);
  for (const { key } of byAge.slice(0, keys.length - sessionsMax)) kept.set(key, undefined);
}

function numberAt(text: string | undefined): number {
  const value = parsed(text);
  return typeof value?.["at"] === "number" ? value["at"] : 0;
}

/** What was kept, as far as it makes sense: anybody may have written there. */
function draftFrom(text: string | undefined): Draft {
  const value = parsed(text);
  if (value === undefined) return emptyDraft;
  const files = Array.isArray(value["files"]) ? value["files"].filter(isDraftFile) : [];
  const words = typeof value["text"] === "string" ? value["text"] : "";
  return { text: words, files, ...(typeof value["key"] === "string" ? { key: value["key"] } : {}) };
}

function parsed(text: string | undefined): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isDraftFile(value: unknown): value is DraftFile {
  if (typeof value !== "object" || value === null) return false;
  const file: { readonly [key: string]: unknown } = { ...value };
  return typeof file["blob"] === "string" && typeof file["mediaType"] === "string" && typeof file["sizeBytes"] === "number";
}
