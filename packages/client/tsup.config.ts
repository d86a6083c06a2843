import type { Options } from "tsup";
import { presetOf } from "../../scripts/tsup.preset.ts";

// What the client needs of core's protocol is a few functions. Taken in from the source they bring nothing along; a page that bundled core's
// own build would carry the table of error codes and more.
const preset = presetOf(import.meta.dirname);

const options: Options = {
  ...preset,
  noExternal: [/^@loopwright\/core/],
  esbuildOptions(esbuild, context) {
    preset.esbuildOptions?.(esbuild, context);
    esbuild.conditions = ["@loopwright/source"];
  },
};

export default options;
