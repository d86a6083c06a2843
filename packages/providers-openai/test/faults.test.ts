import { faultSuite } from "@loopwright/provider-kit/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { providers, replayedProvider } from "./replayed-provider.ts";

faultSuite({ runner: { describe, it, beforeAll, afterAll }, providers, make: replayedProvider });
