import { AgentError, type Fact, type FactDraft } from "@loopwright/core";
import type { BlobStore, SessionRef } from "@loopwright/core/ports";
import { appendLimits } from "@loopwright/core/ports";
import { factTexts } from "@loopwright/core/stores";
import { open, seal } from "@loopwright/secrets/envelope";
import { clearFields } from "./clear-fields.ts";
import { sealText } from "./sealed-text.ts";

/** The keys of a session, and where what is too large for a fact is kept. */
export interface SessionSeal {
  readonly ref: SessionRef;
  readonly key: Uint8Array;
  /** The scope's key for words. */
  readonly wordKey: Uint8Array;
  /** Of the store that is encrypted: what goes in is encrypted already. */
  readonly blobs: BlobStore;
}

/** A fact as the store holds it: what lists need, and the whole fact encrypted, here or in a blob. */
type SealedFact = FactDraft & { readonly sealed?: string; readonly sealedIn?: string };

/** Name of the blobs that hold encrypted facts. */
const blobPrefix = "sealed-";

/**
 * The facts of one batch as the store gets them. @throws AgentError INPUT_INVALID for a batch over a limit of `appendLimits`
 */
export async function sealFacts(
  batch: { readonly facts: readonly FactDraft[]; readonly expectedSeq: number; readonly batchId: string },
  about: SessionSeal,
): Promise<readonly FactDraft[]> {
  const { facts, expectedSeq } = batch;
  const texts = factTexts(batch);
  const sealer = { text: (text: string) => sealText(about, text), wordKey: about.wordKey };
  const sealed = facts.map((fact, place): SealedFact => {
    const seq = expectedSeq + place + 1;
    return { ...clearFields(fact, seq, sealer), sealed: seal(about.key, placeOf(about.ref, seq), texts[place] ?? "").toString("base64") };
  });
  return fitted(sealed, batch, about);
}

const placeOf = ({ scope, session }: SessionRef, seq: number): readonly unknown[] => [scope, session, "fact", seq];

/** Encrypted facts are larger than clear ones. What makes the batch too large goes to blobs, the largest first. */
async function fitted(
  facts: readonly SealedFact[],
  { expectedSeq }: { readonly expectedSeq: number },
  { blobs, ref }: SessionSeal,
): Promise<readonly FactDraft[]> {
  const sizes = facts.map((fact) => Buffer.byteLength(JSON.stringify(fact)) + seqBytes);
  const kept = [...facts];
  let total = sizes.reduce((sum, size) => sum + size, 0);
  const bySize = sizes.map((size, place) => ({ size, place })).sort((a, b) => b.size - a.size);
  for (const { size, place } of bySize) {
    if (size <= appendLimits.factBytes && total <= appendLimits.batchBytes) break;
    const { sealed = "", ...clear } = facts[place] ?? ({} as SealedFact);
    const name = `${blobPrefix}${expectedSeq + place + 1}-${sealed.slice(0, nameLetters).replaceAll(/[^A-Za-z0-9]/g, "_")}`;
    await blobs.put(ref.scope, name, { bytes: Buffer.from(sealed, "base64"), session: ref.session });
    kept[place] = { ...clear, sealedIn: name };
    total -= sealed.length;
  }
  return kept;
}

const seqBytes = 32;
/** Of the ciphertext: version and nonce, which no other fact has. */
const nameLetters = 20;

/** The facts as they were given to `sealFacts`. @throws AgentError SESSION_CORRUPT for a fact that was not encrypted for its place in this session */
export async function openFacts(facts: readonly Fact[], about: Omit<SessionSeal, "wordKey">): Promise<readonly Fact[]> {
  return Promise.all(facts.map((fact) => openFact(fact, about)));
}

async function openFact(fact: Fact, { ref, key, blobs }: Omit<SessionSeal, "wordKey">): Promise<Fact> {
  const { sealed, sealedIn } = fact as Fact & SealedFact;
  const bytes = sealedIn === undefined ? Buffer.from(sealed ?? "", "base64") : (await blobs.get(ref.scope, sealedIn, ref))?.bytes;
  const text = bytes && open(key, placeOf(ref, fact.seq), bytes);
  if (text) return JSON.parse(text.toString("utf8")) as Fact;
  throw new AgentError("SESSION_CORRUPT", {
    message: `Fact ${fact.seq} of the session \`${ref.session}\` cannot be decrypted: it was changed, moved, or written without encryption.`,
  });
}

/** True for a fact that is encrypted. */
export const isSealed = (fact: Fact): boolean => "sealed" in fact || "sealedIn" in fact;
