import { useEffect, useRef, useState } from "react";

/** True while files are dragged over the window; `onFiles` gets what is dropped anywhere in it. */
export function useFileDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  });
  useEffect(() => {
    let depth = 0;
    const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    const listen = {
      dragenter(event: DragEvent) {
        if (!holdsFiles(event)) return;
        depth += 1;
        setOver(true);
      },
      dragleave(event: DragEvent) {
        if (!holdsFiles(event)) return;
        depth = Math.max(0, depth - 1);
        if (depth === 0) setOver(false);
      },
      dragover(event: DragEvent) {
        if (holdsFiles(event)) event.preventDefault();
      },
      drop(event: DragEvent) {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        depth = 0;
        setOver(false);
        take.current([...(event.dataTransfer?.files ?? [])]);
      },
    } as const;
    const off = new AbortController();
    for (const [type, listener] of Object.entries(listen)) addEventListener(type as "drop", listener, { signal: off.signal });
    return () => off.abort();
  }, []);
  return isOver;
}
