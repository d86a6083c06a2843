import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The directory of the built page, or why there is none. */
export type FoundPage = { readonly directory: string } | { readonly missing: string };

const installedManifest = (): string => import.meta.resolve("@loopwright/web/package.json");

/** Looks for the page: the package `@loopwright/web`, built. `manifest` gives the URL of its package.json, or throws where it is not installed. */
export function findPage(manifest: () => string = installedManifest): FoundPage {
  let directory: string;
  try {
    directory = fileURLToPath(new URL("./dist/", manifest()));
  } catch {
    return { missing: "The page is not installed (package @loopwright/web), so only the API is served." };
  }
  if (existsSync(`${directory}index.html`)) return { directory };
  return { missing: "The page is not built, so only the API is served. Build it with `npm run build`." };
}
