import { bundlePage, type PageName, servePage } from "../../../../examples/pages/serve-page.ts";
import { type HandModel, handModel } from "./hand-model.ts";
import type { PageScene } from "./page-test.ts";

/** A page of `examples/pages` and the model behind it. */
export interface ExamplePage {
  readonly url: string;
  readonly model: HandModel;
}

const bundled = new Map<PageName, Promise<string>>();

/** Serves a page of the examples, bundled once for a file, with a model that the test plays. */
export async function examplePage({ onEnd, expectErrors }: PageScene, name: PageName): Promise<ExamplePage> {
  // The schemas of the SDKs (zod) try whether they may compile functions, and do without.
  expectErrors(/^Content security policy: script-src eval$/);
  const folder = bundled.get(name) ?? bundlePage(name);
  bundled.set(name, folder);
  const model = handModel();
  const { url, close } = await servePage(await folder, model.provider);
  onEnd(close);
  return { url: `${url}/`, model };
}
