/// The name that SAP's SDK uses for OData errors: those of the online store, of a batch's parts, and of reading
/// payloads.
///
/// The offline store throws `OfflineODataError` instead.
public typealias DataServiceError = ODataServiceError
