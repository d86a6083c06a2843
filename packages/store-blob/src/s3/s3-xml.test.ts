import { expect, it } from "vitest";
import { readErrorCode, readListing } from "./s3-xml.ts";

it("keys and versions of a listing are read with their entities", () => {
  const xml = `<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a &amp; b/&#x41;&#66;&lt;</Key>
    <ETag>&quot;e1&quot;</ETag></Contents><Contents><ETag>"e2"</ETag><Key>c&unknown;</Key></Contents></ListBucketResult>`;
  expect(readListing(xml)).toEqual({
    objects: [
      { key: "a & b/AB<", etag: '"e1"' },
      { key: "c&unknown;", etag: '"e2"' },
    ],
    hasMore: true,
  });
  expect(readListing("<ListBucketResult/>")).toEqual({ objects: [], hasMore: false });
});

it("the code of an error is read, and what is none is not taken for one", () => {
  expect(readErrorCode("<Error><Code>SlowDown</Code><Message>secret</Message></Error>")).toBe("SlowDown");
  expect(readErrorCode("<html><Code>not a code at all</Code></html>")).toBeUndefined();
  expect(readErrorCode("")).toBeUndefined();
});
