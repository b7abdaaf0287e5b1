public import LarderOData

// The state of entities that an offline store returns.
extension ODataEntity {
  /// Whether the entity was created on this device and has not been downloaded yet.
  public var isLocal: Bool { hasAnnotation("sap.isLocal") }

  /// Whether the entity has pending changes.
  public var hasPendingChanges: Bool { hasAnnotation("sap.hasPendingChanges") }

  /// Whether a change of the entity is in the error archive, or is held because of one that is.
  public var inErrorState: Bool { hasAnnotation("sap.inErrorState") }

  /// Whether the last download added or changed the entity. Only results with all control information contain this
  /// (`Accept: application/json;odata.metadata=full`); in `$filter`, use `sap.upsertedLastDownload()`.
  public var upsertedLastDownload: Bool { hasAnnotation(DownloadMarks.term) }

  private func hasAnnotation(_ term: String) -> Bool {
    annotations.contains { ($0.term == term || $0.term == "__metadata." + term) && $0.value == .boolean(true) }
  }
}
