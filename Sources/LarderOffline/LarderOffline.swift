// The offline store: a relational copy of a service, filled by defining queries, that is queried and changed without a network.
//
// The copy:
// 1. Replica/   ``ReplicaPlan``: the tables for a model. ``EntityTable`` is the table of one entity set, singleton or
//               containment navigation property, with one column for each property; ``LinkTable`` has the links that no
//               referential constraint determines. Values/ stores values of primitive types exactly, and computes with them in
//               SQL. Queries/ describes the defining queries.
// 2. Staging/   downloaded rows and deltas before readers see them; generations of tables.
// 3. Migration/ adopts another model: changes the tables and keeps rows and pending changes.
//
// A query:
// 1. Query/     a bound URL becomes a ``ReadPlan``: one SQL statement with its parameters, and one for each expanded
//               navigation property. No other code writes SQL for queries. ``StoreModel`` adds the sets of queue and archive.
// 2. Coverage/  ``Coverage``: which rows, properties and links the defining queries have downloaded. ``ReadOutcome``: what a
//               read of other data returns; the plan's ``ReadCheck`` finds such data in the rows that are read.
// 3. PreparedQueries/  plans are made once for each URL and kept; the rows that a defining query waits for.
// 4. Results/   rows become entities, values of `Decodable` types, or JSON of V4 or V2; live results.
//
// A download:
// 1. DefiningQueries/  which queries fill the store.
// 2. Sync/      chooses delta link, condition or complete read; pages, resumption, progress.
// 3. Replica/Rows/   ``PageRows`` receives the events of a response; a ``PageBatch`` has the rows of a page, with the cells of each
//               table in a ``RowBatch``.
// 4. Staging/   ``PackedRows`` and batches go through a ``RowQueue`` to a ``GenerationWriter``, and in slices to each table's
//               ``TableGeneration``; one short transaction makes them visible. ``DeltaWriter`` applies the batches of a delta.
//
// A change:
// 1. Changes/Make/    the path leads to a row, and the content is checked against the model; the change becomes effects.
// 2. Changes/Record/  ``QueuedRequest`` is stored with its effects and dependencies in one commit.
// 3. Changes/Fold/    ``PendingFold`` applies the effects to the server's version: readers see the result.
//
// An upload:
// 1. Upload/Run/      ``UploadMachine``: what is sent next, alone or in a batch, and what is pending; and its shell.
// 2. Upload/Rendering/   a ``QueuedRequest`` becomes HTTP: the service's keys, the ETag that it is based on, Content-IDs.
// 3. Upload/Journal/     a request is recorded as sent before it is sent.
// 4. Upload/Outcome/     the meaning of a response, and its one commit: removal from the queue, the service's version, the archive.
// 5. Upload/Resolution/  requests whose response was lost. Upload/Conflict/: conflict policies.
// 6. Archive/            rejected requests: retry, discard, repair.
//
// The store:
// Provider/    ``OfflineODataProvider``: opening, requests, suspension, events.
// Parameters/  the parameters of a store.
// OpenStore/   ``OpenStore``: an open file, and what runs on it.
// Reports/     the public values that downloads and uploads report.
// Events/      the event log in the file.
// User/        the owner of a store.
// Error/       ``OfflineODataError``: names, numbers and texts, and the conversion of errors of other modules.

// Code that imports this module can use these modules without importing them.
@_exported public import LarderService
@_exported public import LarderStorage
