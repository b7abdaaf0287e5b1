import LarderService

extension ODataServiceRoot {
  /// The absolute URL of a resource. Throws `malformedURL` for an invalid one.
  func absolute(_ path: String) throws(OfflineODataError) -> String {
    do throws(ODataServiceError) { return try absoluteText(path) } catch {
      throw OfflineODataError(.malformedURL, cause: error)
    }
  }
}
