import type { Json, JsonObject } from "@loopwright/core";
import { canonicalText } from "./canonical-text.ts";
import type { ApprovalPattern, ArgumentMatcher } from "./pattern.ts";
import { isBelow, isOfOrigin } from "./places.ts";

/** True if the pattern covers a call with these arguments. */
export function fitsPattern({ args: matchers }: ApprovalPattern, args: JsonObject): boolean {
  const isCovered = Object.entries(args).every(([name, value]) => {
    const matcher = Object.hasOwn(matchers, name) ? matchers[name] : undefined;
    return matcher !== undefined && fits(matcher, value);
  });
  return isCovered && Object.entries(matchers).every(([name, matcher]) => "any" in matcher || Object.hasOwn(args, name));
}

function fits(matcher: ArgumentMatcher, value: Json): boolean {
  if ("equals" in matcher) return canonicalText(matcher.equals) === canonicalText(value);
  if ("below" in matcher) return isBelow(value, matcher.below);
  return "origin" in matcher ? isOfOrigin(value, matcher.origin) : true;
}
