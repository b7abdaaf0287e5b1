public import LarderOData

// What an offline store says of the entities that it answers.
extension ODataEntity {
  /// Whether the entity was made on this device and no download has brought it yet.
  public var isLocal: Bool { says("sap.isLocal") }

  /// Whether changes of the entity wait to be sent.
  public var hasPendingChanges: Bool { says("sap.hasPendingChanges") }

  /// Whether a change of the entity is in the error archive, or held because of one there.
  public var inErrorState: Bool { says("sap.inErrorState") }

  /// Whether the last download has brought or changed the entity. Only answers with all control information tell it
  /// (`Accept: application/json;odata.metadata=full`); in `$filter` there is `sap.upsertedLastDownload()`.
  public var upsertedLastDownload: Bool { says(DownloadMarks.term) }

  private func says(_ term: String) -> Bool {
    annotations.contains { ($0.term == term || $0.term == "__metadata." + term) && $0.value == .boolean(true) }
  }
}
