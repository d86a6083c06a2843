import { use, useEffect, useState } from "react";
import { type Services, ServicesContext } from "./services.ts";

/**
 * Where a picture of the server can be shown from. The browser sends no token with pictures, so that where the server wants one the file is
 * fetched by the page; `undefined` until it is here, and when it cannot be had.
 */
export function useFileAddress(address: string | undefined): string | undefined {
  const token = use(ServicesContext)?.server.token;
  const isOurs = address !== undefined && token !== undefined && /^https?:|^[^:]*$/.test(address) && address.includes("/api/files/");
  const [held, setHeld] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (!isOurs) return;
    const leaving = new AbortController();
    let made: string | undefined;
    fetchFile(address, token, leaving.signal).then(
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
  }, [address, token, isOurs]);
  return isOurs ? held : address;
}

/** Rejects when the file cannot be had. */
async function fetchFile(address: string, token: NonNullable<Services["server"]["token"]>, signal: AbortSignal): Promise<Blob> {
  const words = typeof token === "function" ? await token() : token;
  const response = await fetch(address, { signal, headers: { Authorization: `Bearer ${words}` } });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.blob();
}
