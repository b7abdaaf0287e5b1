import HTTPCore

extension ODataConversation {
  /// Sends several requests as one.
  public func send(_ request: ODataBatchRequest) async throws(ODataServiceError) -> ODataBatchResponse {
    throw ODataServiceError(.notSupported("batch"), operation: "batch")
  }
}
