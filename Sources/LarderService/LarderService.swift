// One conversation with an OData service, and the types that all stores share. Keeps nothing between runs.
//
// The types shared by all stores:
// 1. Request/   ``ODataRequest``, one request or a batch, and its ``ODataResponse``; ``ODataServiceRoot`` converts paths to URLs.
// 2. Response/  decodes the bytes of a response on demand.
// 3. Store/     ``ODataStore``, the listener, and ``ODataRequestExecution`` that makes the callbacks one by one;
//               ``RequestOrder`` decides which requests wait for earlier ones.
// 4. Error/     ``ODataServiceError``: what went wrong, where, and the underlying cause.
// 5. Capabilities/   the restrictions that the model states, and the requests that they do not allow.
// 6. Typed/     entity sets and entities as Swift types; Decoding/ and Encoding/ convert values by their declared types.
//
// The stages of one request through ``ODataConversation``, each layer a file in Conversation/:
// 1. +single, +media, +batch   the version's method, fields and form of content; Atom if the service has no JSON;
// 2. +sending                  retries (Retry/, a state machine) and method tunnelling;
// 3. +csrf                     the token before a change, and one replay (Session/CSRF+StateMachine);
// 4. +authorization            credentials, one renewal after a 401 (Authentication/); cookies (Session/CookieJar);
// 5.                           `HTTPTransport`, and back: every unsuccessful status becomes an error with its payload.
//
// In addition: +metadata reads model and version once. Session/SharedFetch shares one fetch between many callers.
