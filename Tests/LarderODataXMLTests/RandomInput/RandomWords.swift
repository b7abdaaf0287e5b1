/// The words that random documents are made of.
enum RandomWords {
  private static let controls = [
    "context", "metadata", "type", "count", "nextLink", "deltaLink", "delta", "id", "etag", "editLink", "readLink",
    "navigationLink", "associationLink", "mediaReadLink", "mediaEditLink", "mediaContentType", "mediaEtag", "bind",
    "removed", "null", "error", "collectionAnnotations",
  ]

  static let payload: [String] =
    [
      "A", "B", "ID", "Name", "L", "value", "d", "results", "__metadata", "__deferred", "__mediaresource", "__count",
      "__next", "__delta", "uri", "url", "type", "etag", "deleted", "media_src", "actions", "functions", "properties",
      "reason", "source", "relationship", "target", "name", "kind", "title", "code", "message", "details", "innererror",
      "error", "odata.error", "EntitySets", "#Act", "@N.T", "A@N.T", "associationuri", "id", "coordinates",
      "geometries",
    ] + controls.flatMap { ["@" + $0, "@odata." + $0, "odata." + $0, "A@odata." + $0, "L@" + $0] }

  static let contextNames = ["@odata.context", "@context", "odata.metadata"]

  static let contexts = [
    "$metadata", "$metadata#Es", "$metadata#Es/$entity", "$metadata#Es/$delta", "$metadata#Es/$deletedEntity",
    "$metadata#Es/$link", "$metadata#Es/$deletedLink", "$metadata#$ref", "$metadata#Collection($ref)",
    "$metadata#Collection(Edm.Int32)", "$metadata#Es(A,L(B))", "$metadata#Es(1)/A", "#N.C", "$metadata#Es/@Element",
    "#Collection(N.C)", "#(((", "#Es(''/",
  ]

  static let texts = [
    "", "a", "N.E", "N.C", "#N.E", "#Collection(N.C)", "Collection(Edm.Int64)", "Edm.Decimal", "Edm.String", "deleted",
    "changed", "W/\"1\"", "/Date(0)/", "\\/Date(0+60)\\/", "PT1S", "datetime'2020-01-01T00:00:00'", "true", "max",
    "Variable", "é\u{301}\u{1F600}", "Point", "self.E", "N.F", "Es", "A/B", "http://h/s/Es(1)", "0..1", "*",
    "EntityType", "ComplexType", "EntitySet", "Function", "Action", "Term", "TypeDefinition", "EnumType",
    "NavigationProperty", "EntityContainer", "Singleton",
  ]

  static let numbers = [
    "0", "-1", "1", "1.50", "1e400", "-0.0", "9223372036854775808", "123456789012345678901234567890.123",
    "1E-999999999",
  ]

  static let csdlJSON = [
    "$Reference", "$Include", "$IncludeAnnotations", "$Namespace", "$Alias", "$TermNamespace", "$EntityContainer", "N",
    "M", "E", "C", "A", "B", "$Kind", "$Kind", "$Kind", "$Type", "$Collection", "$Nullable", "$Key", "$BaseType",
    "$Abstract", "$OpenType", "$HasStream", "$Scale", "$Precision", "$MaxLength", "$SRID", "$Partner",
    "$ContainsTarget",
    "$ReferentialConstraint", "$OnDelete", "$OnDelete@N.T", "$UnderlyingType", "$IsFlags", "$IsBound", "$Parameter",
    "$Name", "$ReturnType", "$EntitySet", "$Action", "$Function", "$NavigationPropertyBinding", "$Extends",
    "$Annotations", "N.E", "N.C/Es", "@N.T", "A@N.T", "@N.T@N.T", "@N.T#q", "@", "@@", "$Path", "$If", "$Apply",
    "$Cast",
    "$IsOf", "$And", "$Not", "$LabeledElement", "$Null", "$UrlRef", "$AppliesTo", "$DefaultValue", "$BaseTerm",
    "$Version",
  ]

  static let schemaNamespaces = [
    "http://docs.oasis-open.org/odata/ns/edm", "http://schemas.microsoft.com/ado/2008/09/edm",
    "http://schemas.microsoft.com/ado/2009/11/edm", "urn:none",
  ]
  static let wrapperNamespaces = [
    "http://docs.oasis-open.org/odata/ns/edmx", "http://schemas.microsoft.com/ado/2007/06/edmx",
  ]

  static let csdlXML = [
    "EntityType", "ComplexType", "EnumType", "TypeDefinition", "Term", "Function", "Action", "EntityContainer", "Key",
    "PropertyRef", "Property", "NavigationProperty", "ReferentialConstraint", "OnDelete", "Member", "Parameter",
    "ReturnType", "EntitySet", "Singleton", "FunctionImport", "ActionImport", "NavigationPropertyBinding",
    "Annotations",
    "Annotation", "Record", "PropertyValue", "Collection", "If", "Cast", "IsOf", "Apply", "Path", "String", "Null",
    "Not",
    "And", "Association", "End", "AssociationSet", "Principal", "Dependent", "Using", "TypeRef", "CollectionType",
    "ReferenceType", "RowType", "Documentation", "LabeledElement", "UrlRef", "edmx:Reference", "edmx:Include", "x",
  ]
  static let csdlAttributes = [
    "Name", "Name", "Name", "Namespace", "Alias", "Type", "Type", "BaseType", "Abstract", "OpenType", "HasStream",
    "Nullable", "MaxLength", "Precision", "Scale", "SRID", "Unicode", "DefaultValue", "Partner", "ContainsTarget",
    "Property", "ReferencedProperty", "Action", "Value", "IsFlags", "UnderlyingType", "IsBound", "EntitySetPath",
    "EntityType", "EntitySet", "Function", "Path", "Target", "Term", "Qualifier", "String", "Bool", "Int",
    "EnumMember", "AnnotationPath", "Relationship", "FromRole", "ToRole", "Role", "Multiplicity", "Association",
    "ReturnType", "ElementType", "CollectionKind", "ConcurrencyMode", "Extends", "Uri", "TermNamespace",
  ]

  static let atomRoots = [
    "a:feed", "a:entry", "app:service", "m:error", "error", "m:value", "d:A", "d:links", "d:uri", "m:ref",
    "m:properties",
  ]
  static let atom = [
    "a:feed", "a:entry", "a:id", "a:link", "a:category", "a:content", "a:title", "a:updated", "a:author", "a:name",
    "m:properties", "m:inline", "m:count", "m:action", "m:function", "m:annotation", "m:element", "m:ref", "m:link",
    "m:deleted-link", "m:value", "m:next", "t:deleted-entry", "d:A", "d:B", "d:ID", "d:element", "d:uri",
    "app:workspace", "app:collection", "m:singleton", "gml:Point", "gml:pos", "gml:Polygon", "gml:LineString", "code",
    "message", "innererror", "errordetails", "errordetail", "m:details", "m:detail", "x",
  ]
  static let atomAttributes = [
    "rel", "href", "title", "type", "term", "scheme", "src", "ref", "reason", "when", "id", "source", "relationship",
    "target", "m:type", "m:null", "m:etag", "m:context", "m:name", "metadata", "string", "int", "bool", "decimal",
    "xml:base", "srsName",
  ]

  static let batchJSON = [
    "id", "atomicityGroup", "dependsOn", "method", "url", "headers", "body", "status", "if", "content-type",
    "Content-Type",
    "@odata.context", "error",
  ]

  static let batchLines = [
    "--b", "--b", "--b", "--b--", "--c", "--c--", "-", "", "", "", "Content-Type: application/http",
    "Content-Type: multipart/mixed; boundary=c", "Content-Type: multipart/mixed",
    "Content-Type: multipart/mixed; boundary=b",
    "Content-Transfer-Encoding: binary", "Content-ID: 1", "Content-ID: 2", "HTTP/1.1 200 OK", "HTTP/1.1 204 No Content",
    "HTTP/1.1", "HTTP/1.1 999999999999999999999 X", "GET Es HTTP/1.1", "POST Es HTTP/1.1",
    "Content-Type: application/json",
    "Content-Length: 2", "Content-Length: 99999999999999999999", "Content-Length: -1", "{}", "\u{FEFF}--b", ": x",
    "a b: c",
    " folded",
  ]
}
