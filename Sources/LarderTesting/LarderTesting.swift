// For tests and previews of applications: a network, services, a clock and stores without a server.
//
// 1. Transport/  ``ScriptedTransport`` responds to requests: by routes, recorded exchanges, or a service. It records the
//                requests, waits for the latency, and fails by name (``HTTPTestFault``).
// 2. Clock/      ``LarderTestClock``: the time of stores and of the latency. It passes when the test says so.
// 3. Service/    ``ODataTestService``: an OData service, created from a model and rows. ``TestRows`` is its data as a value,
//                which changes; `RowReader` checks what clients write against the model. `TestQueries` keeps a copy of
//                the rows in an offline store, which evaluates all queries. `TestResponder` is the protocol: paths,
//                ETags, pages, deltas, batches.
// 4. Stores/     all four stores in a temporary folder that is removed with the store (``LarderTestFolder``).

// Code that imports this module can use these modules without importing them.
@_exported public import LarderContent
@_exported public import LarderObjects
@_exported public import LarderOffline
@_exported public import LarderOnline
