import LarderOData
import LarderODataXML

/// Small documents for tests: wraps schemas in what a service puts around them.
enum CSDLText {
  static func v4(_ content: String, namespace: String = "NS", alias: String = "self") -> String {
    """
    <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01"><edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="\(namespace)" Alias="\(alias)">
    \(content)
    </Schema></edmx:DataServices></edmx:Edmx>
    """
  }

  static func v2(_ content: String, edm: String = "http://schemas.microsoft.com/ado/2008/09/edm") -> String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
      xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
      xmlns:sap="http://www.sap.com/Protocols/SAPData">
    <edmx:DataServices m:DataServiceVersion="2.0"><Schema Namespace="NS" xmlns="\(edm)">
    \(content)
    </Schema></edmx:DataServices></edmx:Edmx>
    """
  }

  static func read(_ text: String) throws(MetadataError) -> EdmModel { try EdmModel.read(Array(text.utf8)) }

  /// The value of the annotation `T.A` inside an entity type.
  static func annotation(_ attributesAndContent: String) throws -> EdmAnnotation? {
    try read(v4("<EntityType Name='E'><Annotation Term='T.A' \(attributesAndContent)</EntityType>"))
      .entityType("NS.E")?.annotations.first
  }
}
