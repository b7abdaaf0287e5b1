internal import LarderOData

/// The attributes `m:FC_…` of V2 and V3 ([MS-ODATA] §2.2.3.7.2.1): each suffix is one mapping (`m:FC_TargetPath_1`).
enum CSDLFeedMappingGrammar {
  /// - Parameter property: the property that carries the attributes; nil on an entity type.
  static func mappings(
    _ element: inout CSDLElement, of property: String?, _ reading: CSDLReading
  ) -> [EdmFeedMapping] {
    let targets = element.metadataNames(startingWith: "FC_TargetPath")
    return targets.compactMap { name in
      let suffix = String(name.dropFirst("FC_TargetPath".count))
      guard let target = element.takeMetadata(name) else { return nil }
      let source = element.takeMetadata("FC_SourcePath" + suffix)
      guard let path = path(source, of: property) else {
        reading.report(.missingAttribute, "m:\(name) has no matching m:FC_SourcePath\(suffix)", at: element)
        return nil
      }
      let keeps = element.takeMetadata("FC_KeepInContent" + suffix)
      return EdmFeedMapping(
        sourcePath: path, targetPath: target,
        keepsInContent: keeps.flatMap { element.bool($0, "FC_KeepInContent", reading) } ?? true,
        contentKind: element.takeMetadata("FC_ContentKind" + suffix),
        namespacePrefix: element.takeMetadata("FC_NsPrefix" + suffix),
        namespaceURI: element.takeMetadata("FC_NsUri" + suffix))
    }
  }

  private static func path(_ source: String?, of property: String?) -> String? {
    guard let property else { return source }
    return source.map { property + "/" + $0 } ?? property
  }
}
