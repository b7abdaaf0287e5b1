import LarderHTTP

extension StoredRules {
  /// Reads a stored response's metadata.
  package init(_ metadata: CacheMetadata) {
    self.init(
      status: metadata.status, fields: metadata.fields, requestTime: metadata.requestMilliseconds,
      responseTime: metadata.responseMilliseconds)
    isInvalidated = metadata.isInvalidated
    isHidden = metadata.hiddenBy != nil
    isPartial = metadata.content != .whole
    hasGroups = !metadata.groups.isEmpty
    isIndex = !metadata.variants.isEmpty
  }
}
