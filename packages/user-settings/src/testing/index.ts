/** Tests of stores for what users set. */
export { type RecordsUnderTest, userRecordsKit } from "./user-records-kit.ts";
