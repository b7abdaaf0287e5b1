// The offline store: a relational copy of a service, filled by defining queries, asked without a network.
//
// What the copy is made of:
// 1. Replica/   ``ReplicaPlan``: the tables that a model becomes. ``EntityTable`` holds the entities of one entity set,
//               singleton or containment navigation property, one column a property; ``LinkTable`` the links that no
//               referential constraint tells. Generations, rows, deltas and migrations live here too.
// 2. Values/    how values of primitive types stand in a column, exactly, and what SQL computes with them.
//
// The way of a question:
// 1. Query/     a bound URL becomes a ``ReadPlan``: one SQL statement with its parameters, a statement more for each
//               expanded navigation property. The only place that writes SQL for questions.
// 2. Coverage/  ``ReadOutcome``: the one table of what is not in the copy. ``Coverage``: which rows, properties and links the
//               defining queries have brought; a plan's ``ReadCheck`` asks it of the rows that are read.
// 3. Results/   rows become entities, values of `Decodable` types, or JSON bytes of V4 or V2; live results.
//
// The way of a download:
// 1. Sync/      which way a defining query takes (delta link, 304, whole read), pages, resumption, progress.
// 2. Replica/   rows go to durable staging in slices; one short transaction makes them what readers see.
//
// The way of a change:
// 1. Changes/Make/    the path is walked to a row, the content checked against the model; what it does becomes effects.
// 2. Changes/Record/  ``QueuedRequest`` waits to be sent, its effects and what it depends on beside it, in one commit.
// 3. Changes/Fold/    ``PendingFold``: what the server has, with the effects folded over it, is what readers see.
//
// The way of an upload:
// 1. Upload/Run/      ``UploadMachine``: what is sent next, alone or in a batch, and what waits; the shell around it.
// 2. Upload/Rendering/   a ``QueuedRequest`` becomes HTTP: the service's keys, the ETag it was based on, Content-IDs.
// 3. Upload/Journal/     the send is written down before it leaves.
// 4. Upload/Outcome/     what the answer means, and its one commit: removal from the queue, the service's image, the archive.
// 5. Upload/Resolution/  uncertain requests: what became of a send whose response was lost. Upload/Conflict/: policies.
// 6. Archive/            what was refused: ``StoreModel``, the entity sets of queue and archive; retry, discard, repair.
//
// Around them:
// Provider/         ``OfflineODataProvider``: opening, requests, suspension; ``OpenStore``, what an open one works with.
// DefiningQueries/  which queries fill the store, and what has been downloaded of each.
// PreparedQueries/  a query's URL becomes a plan once and is kept.
// Media/            contents of media entities and named streams.
// Events/           the event log, and the sequence of events.
// User/             who owns the store, and what a switch of users does.
// Error/            ``OfflineODataError``: its names, numbers and texts, and the translation of errors of other modules.

// Those who import this module use these modules without another import.
@_exported public import LarderService
@_exported public import LarderStorage
