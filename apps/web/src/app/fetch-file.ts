import type { Services } from "./services.ts";

/** A file of the server, with the credentials and in the team of the page. Rejects when it cannot be had. */
export async function fetchFile(address: string, { token, scope }: Services["server"], signal?: AbortSignal): Promise<Blob> {
  const words = typeof token === "function" ? await token() : token;
  const headers = {
    ...(words === undefined ? {} : { Authorization: `Bearer ${words}` }),
    ...(scope === undefined ? {} : { "X-Scope": scope }),
  };
  const response = await fetch(address, { headers, ...(signal ? { signal } : {}) });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.blob();
}
