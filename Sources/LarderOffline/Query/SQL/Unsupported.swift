extension OfflineODataError {
  /// The error for a construct that has no meaning on stored data, or that this version does not translate to SQL.
  static func unsupported(_ construct: String) -> OfflineODataError {
    OfflineODataError(.unsupportedQuery, construct)
  }
}
