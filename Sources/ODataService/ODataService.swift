// One conversation with an OData service, and the words that every store speaks. Keeps nothing between runs.
//
// The words, shared by all stores:
// 1. Request/   what is asked: ``ODataRequest``, one request or a batch; resource paths become URLs in ``ODataServiceRoot``.
// 2. Response/  what is answered: ``ODataResponse``, bytes first, decoded when asked.
// 3. Store/     ``ODataStore``, the listener, and ``ODataRequestExecution`` that drives the callbacks one by one.
// 4. Error/     ``ODataServiceError``: what went wrong, where, and the cause below.
