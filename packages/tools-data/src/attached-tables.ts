import { type FilePart, type Message, partsOf, type UserPart } from "@loopwright/core";
import type { SessionStore } from "@loopwright/core/ports";
import type { TableSource } from "./data-tools.ts";

/** A table among the files of a conversation. */
export type TablePart = FilePart & { readonly source: { readonly blob: string } };

const tableTypes: ReadonlySet<string> = new Set(["text/csv", "text/tab-separated-values", "application/csv", "application/vnd.ms-excel"]);

/** The tables that people have attached to these messages: CSV in the store, each file once, the latest first. */
export function tablesOf(messages: readonly Message[]): readonly TablePart[] {
  const found = new Map<string, TablePart>();
  for (const message of messages.toReversed())
    if (message.role === "user")
      for (const part of partsOf<UserPart>(message.content))
        if (isTable(part) && !found.has(part.source.blob)) found.set(part.source.blob, part);
  return [...found.values()];
}

const isTable = (part: UserPart): part is TablePart =>
  part.type === "file" && part.source.blob !== undefined && (tableTypes.has(part.mediaType) || /\.(csv|tsv)$/i.test(part.name ?? ""));

/**
 * The tables that are attached to the session of a call, whole, for `dataTools` and `snippetTool`. They are read from the store for each call, at most
 * `tablesMax` of them, so that a process that takes the session over has them too.
 */
export function attachedTables({ blobs }: Pick<SessionStore, "blobs">, tablesMax = 20): TableSource {
  return async ({ access, session }) => {
    const parts = tablesOf(session.messages()).slice(0, tablesMax);
    const read = await Promise.all(
      parts.map(async ({ name = "table", source }) => {
        const found = await blobs.get(access.scope, source.blob, { session: session.id });
        return found ? [{ name, csv: new TextDecoder().decode(found.bytes) }] : [];
      }),
    );
    return read.flat();
  };
}
