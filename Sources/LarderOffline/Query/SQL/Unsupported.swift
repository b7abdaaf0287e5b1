extension OfflineODataError {
  /// A construct that has no meaning on stored data, or that this version does not carry over.
  static func unsupported(_ construct: String) -> OfflineODataError {
    OfflineODataError(.unsupportedQuery, construct)
  }
}
