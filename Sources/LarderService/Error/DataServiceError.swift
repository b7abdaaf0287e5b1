/// The name that SAP's SDK has for the errors of OData itself: those of the online store, of a batch's parts, of reading
/// payloads.
///
/// What an offline store throws is `OfflineODataError`.
public typealias DataServiceError = ODataServiceError
