import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { CodeReader } from "./read-code.ts";

type CreateReader = typeof import("./read-code.ts").createCodeReader;

let create: CreateReader | undefined;
let isLoading = false;
const waiting = new Set<() => void>();

/** Loads what colours code. Where that fails code stays plain, and the next block tries again. */
function load(): void {
  if (isLoading) return;
  isLoading = true;
  void import("./read-code.ts").then(
    ({ createCodeReader }) => {
      create = createCodeReader;
      for (const notice of waiting) notice();
    },
    () => {
      isLoading = false;
    },
  );
}

function subscribe(notice: () => void): () => void {
  waiting.add(notice);
  return () => waiting.delete(notice);
}

/** A reader of one block of code; absent for code without a language, and until the colours are loaded, which the first block with a language begins. */
export function useCodeReader(language: string): CodeReader | undefined {
  const createReader = useSyncExternalStore(
    subscribe,
    () => create,
    () => create,
  );
  useEffect(() => {
    if (language !== "" && createReader === undefined) load();
  }, [language, createReader]);
  return useMemo(() => (language === "" ? undefined : createReader?.(language)), [language, createReader]);
}
