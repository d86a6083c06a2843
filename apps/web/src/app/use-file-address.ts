import { use, useEffect, useState } from "react";
import { fetchFile } from "./fetch-file.ts";
import { ServicesContext } from "./services.ts";

/**
 * Where a picture of the server can be shown from. The browser sends no token and no team with pictures, so that where the page has one the file is
 * fetched by the page; `undefined` until it is here, and when it cannot be had.
 */
export function useFileAddress(address: string | undefined): string | undefined {
  const server = use(ServicesContext)?.server;
  const hasHeaders = server?.token !== undefined || server?.scope !== undefined;
  const isOurs = address !== undefined && hasHeaders && /^https?:|^[^:]*$/.test(address) && address.includes("/api/files/");
  const [held, setHeld] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (!isOurs || server === undefined) return;
    const leaving = new AbortController();
    let made: string | undefined;
    fetchFile(address, server, leaving.signal).then(
      (file) => {
        made = URL.createObjectURL(file);
        setHeld(made);
      },
      () => setHeld(undefined),
    );
    return () => {
      leaving.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
      setHeld(undefined);
    };
  }, [address, server, isOurs]);
  return isOurs ? held : address;
}
