@testable import LarderOData

/// A small sales service: inheritance, complex types, flags, type definitions, open types, contained sets, singletons, overloads.
enum BindingModel {
  static let sales: EdmModel = {
    do {
      return try CSDLJSONReader.read(Array(document.utf8))
    } catch {
      // Every test would fail: an empty model says so.
      return EdmModel(version: .v401, schemas: [])
    }
  }()

  static let binder = ODataBinder(model: sales)

  private static let document = """
    {"$Version":"4.01","$EntityContainer":"Sales.Container",
     "Sales":{"$Alias":"S","@Org.OData.Core.V1.DefaultNamespace":true,
     \(types),
     \(operations),
     \(container)}}
    """

  private static let types = """
    "Weight":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Decimal","$Precision":9,"$Scale":3},
    "Color":{"$Kind":"EnumType","Red":0,"Green":1,"Blue":2},
    "Pattern":{"$Kind":"EnumType","$IsFlags":true,"Plain":0,"Red":1,"Yellow":2,"Blue":4,"RedYellow":3},
    "Address":{"$Kind":"ComplexType","Street":{"$Nullable":true},"City":{"$Nullable":true},
      "Country":{"$Kind":"NavigationProperty","$Type":"S.Country","$Nullable":true}},
    "GeoAddress":{"$Kind":"ComplexType","$BaseType":"S.Address","Place":{"$Type":"Edm.GeographyPoint","$Nullable":true}},
    "Bag":{"$Kind":"ComplexType","$OpenType":true,"Size":{"$Type":"Edm.Int32"}},
    "Country":{"$Kind":"EntityType","$Key":["Code"],"Code":{},"Name":{}},
    "Category":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Name":{},
      "Products":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.Product","$Partner":"Category"}},
    "Product":{"$Kind":"EntityType","$Key":["ID"],"$HasStream":true,
      "ID":{"$Type":"Edm.Guid"},"Name":{"$Nullable":true},"Price":{"$Type":"Edm.Decimal","$Nullable":true,"$Scale":2},
      "Rating":{"$Type":"Edm.Int32"},"Stock":{"$Type":"Edm.Int16"},"Big":{"$Type":"Edm.Int64"},"Tiny":{"$Type":"Edm.Byte"},
      "Score":{"$Type":"Edm.Double","$Nullable":true},"Ratio":{"$Type":"Edm.Single"},"Color":{"$Type":"S.Color"},
      "Pattern":{"$Type":"S.Pattern"},"Weight":{"$Type":"S.Weight","$Nullable":true},
      "Active":{"$Type":"Edm.Boolean"},"Made":{"$Type":"Edm.DateTimeOffset"},"Day":{"$Type":"Edm.Date"},
      "Open":{"$Type":"Edm.TimeOfDay"},"Life":{"$Type":"Edm.Duration","$Nullable":true},"Data":{"$Type":"Edm.Binary"},
      "Photo":{"$Type":"Edm.Stream"},"Place":{"$Type":"Edm.GeographyPoint"},"Area":{"$Type":"Edm.GeographyPolygon"},
      "Line":{"$Type":"Edm.GeographyLineString"},"Tags":{"$Collection":true},"Numbers":{"$Collection":true,"$Type":"Edm.Int32"},
      "Extra":{"$Type":"S.Bag"},"Any":{"$Type":"Edm.Untyped","$Nullable":true},
      "Category":{"$Kind":"NavigationProperty","$Type":"S.Category","$Nullable":true,"$Partner":"Products"}},
    "Special":{"$Kind":"EntityType","$BaseType":"S.Product","Discount":{"$Type":"Edm.Decimal"},
      "Best":{"$Kind":"NavigationProperty","$Type":"S.Product","$Nullable":true}},
    "Customer":{"$Kind":"EntityType","$Key":["ID"],"$OpenType":true,"ID":{},"Name":{},"Age":{"$Type":"Edm.Int32","$Nullable":true},
      "Address":{"$Type":"S.Address","$Nullable":true},"Addresses":{"$Collection":true,"$Type":"S.Address"},
      "Emails":{"$Collection":true},
      "Orders":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.Order","$Partner":"Customer"},
      "Boss":{"$Kind":"NavigationProperty","$Type":"S.Customer","$Nullable":true}},
    "Order":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Amount":{"$Type":"Edm.Decimal","$Scale":2},
      "Placed":{"$Type":"Edm.DateTimeOffset"},"Note":{"$Nullable":true},
      "Customer":{"$Kind":"NavigationProperty","$Type":"S.Customer","$Partner":"Orders"},
      "Items":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"S.Item","$ContainsTarget":true,"$Partner":"Order"}},
    "Item":{"$Kind":"EntityType","$Key":["OrderID","No"],"OrderID":{"$Type":"Edm.Int32"},"No":{"$Type":"Edm.Int32"},
      "Quantity":{"$Type":"Edm.Int32"},
      "Order":{"$Kind":"NavigationProperty","$Type":"S.Order","$Partner":"Items","$ReferentialConstraint":{"OrderID":"ID"}},
      "Product":{"$Kind":"NavigationProperty","$Type":"S.Product"}},
    "Shelf":{"$Kind":"EntityType","$Key":[{"Row":"At/Row"},"Letter"],"At":{"$Type":"S.Spot"},"Letter":{}},
    "Spot":{"$Kind":"ComplexType","Row":{"$Type":"Edm.Int32"}}
    """

  private static let operations = """
    "Top":[{"$Kind":"Function","$IsComposable":true,"$Parameter":[{"$Name":"number","$Type":"Edm.Int32"}],
        "$ReturnType":{"$Collection":true,"$Type":"S.Product"}},
      {"$Kind":"Function","$IsComposable":true,"$Parameter":[{"$Name":"number","$Type":"Edm.Int32"},{"$Name":"color","$Type":"S.Color"}],
        "$ReturnType":{"$Collection":true,"$Type":"S.Product"}}],
    "ByColors":[{"$Kind":"Function","$Parameter":[{"$Name":"colors","$Collection":true}],
        "$ReturnType":{"$Collection":true,"$Type":"S.Product"}}],
    "Tax":[{"$Kind":"Function","$IsBound":true,"$Parameter":[{"$Name":"it","$Type":"S.Product"},{"$Name":"rate","$Type":"Edm.Double"}],
        "$ReturnType":{"$Type":"Edm.Decimal"}},
      {"$Kind":"Function","$IsBound":true,"$Parameter":[{"$Name":"it","$Type":"S.Special"},{"$Name":"rate","$Type":"Edm.Double"}],
        "$ReturnType":{"$Type":"Edm.Double"}}],
    "Buyers":[{"$Kind":"Function","$IsBound":true,"$IsComposable":true,"$EntitySetPath":"it/Orders/Customer",
        "$Parameter":[{"$Name":"it","$Type":"S.Customer"}],"$ReturnType":{"$Collection":true,"$Type":"S.Customer"}}],
    "Even":[{"$Kind":"Function","$Parameter":[{"$Name":"n","$Type":"Edm.Int32"}],"$ReturnType":{"$Type":"Edm.Boolean"}}],
    "Raise":[{"$Kind":"Action","$IsBound":true,"$Parameter":[{"$Name":"it","$Type":"S.Product"},{"$Name":"by","$Type":"Edm.Decimal"}]}],
    "Reset":[{"$Kind":"Action"}]
    """

  private static let container = """
    "$Annotations":{"Sales.Product":{"@Org.OData.Aggregation.V1.LeveledHierarchy#Sorts":["Category/ID","Category/Name"]},
      "Sales.Order":{"@Org.OData.Aggregation.V1.CustomAggregate#Forecast":"Edm.Decimal"}},
    "Container":{"$Kind":"EntityContainer",
      "Products":{"$Collection":true,"$Type":"S.Product","$NavigationPropertyBinding":{"Category":"Categories","S.Special/Best":"Products"}},
      "Categories":{"$Collection":true,"$Type":"S.Category","$NavigationPropertyBinding":{"Products":"Products"}},
      "Customers":{"$Collection":true,"$Type":"S.Customer",
        "$NavigationPropertyBinding":{"Orders":"Orders","Boss":"Customers","Address/Country":"Countries"}},
      "Orders":{"$Collection":true,"$Type":"S.Order","$NavigationPropertyBinding":{"Customer":"Customers","Items/Product":"Products"}},
      "Countries":{"$Collection":true,"$Type":"S.Country"},
      "Shelves":{"$Collection":true,"$Type":"S.Shelf"},
      "Me":{"$Type":"S.Customer","$NavigationPropertyBinding":{"Orders":"Orders"}},
      "Top":{"$Function":"S.Top","$EntitySet":"Products"},
      "ByColors":{"$Function":"S.ByColors","$EntitySet":"Products"},
      "Reset":{"$Action":"S.Reset"}}
    """
}

/// A small model as V2 services declare it.
enum BindingModelV2 {
  static let model: EdmModel = {
    var schema = EdmSchema(namespace: "ZS")
    var product = EdmEntityType(namespace: "ZS", name: "Product")
    product.key = [EdmPropertyRef(path: "ID")]
    product.properties = [
      EdmProperty(name: "ID", type: .primitive(.int32), nullable: false),
      EdmProperty(name: "Name", type: .primitive(.string)), EdmProperty(name: "Price", type: .primitive(.decimal)),
      EdmProperty(name: "Made", type: .primitive(.dateTime)),
      EdmProperty(name: "Moved", type: .primitive(.dateTimeOffset)),
      EdmProperty(name: "Open", type: .primitive(.time)), EdmProperty(name: "Score", type: .primitive(.double)),
      EdmProperty(name: "Big", type: .primitive(.int64)), EdmProperty(name: "Code", type: .primitive(.guid)),
      EdmProperty(name: "Data", type: .primitive(.binary)), EdmProperty(name: "Active", type: .primitive(.boolean)),
    ]
    product.navigationProperties = [navigation("Category", "ProductCategory", "Product", "Category")]
    var category = EdmEntityType(namespace: "ZS", name: "Category")
    category.key = [EdmPropertyRef(path: "ID")]
    category.properties = [
      EdmProperty(name: "ID", type: .primitive(.int32), nullable: false),
      EdmProperty(name: "Name", type: .primitive(.string)),
    ]
    category.navigationProperties = [
      navigation("Products", "ProductCategory", "Category", "Product"),
      navigation("Parent", "CategoryParent", "Child", "Parent"),
    ]
    schema.entityTypes = [product, category]
    schema.associations = [
      association("ProductCategory", ("Product", "ZS.Product", .many), ("Category", "ZS.Category", .zeroOrOne)),
      association("CategoryParent", ("Child", "ZS.Category", .many), ("Parent", "ZS.Category", .zeroOrOne)),
    ]
    schema.containers = [container]
    return EdmModel(version: .v2, schemas: [schema])
  }()

  static let binder = ODataBinder(model: model)
  /// A binder for ``model`` that reads URLs in the language of V4.
  static let binderV4 = ODataBinder(model: model, options: ODataBinderOptions(version: .v401))

  private static var container: EdmEntityContainer {
    var container = EdmEntityContainer(namespace: "ZS", name: "Entities")
    container.isDefault = true
    container.entitySets = [
      EdmEntitySet(name: "Products", entityType: "ZS.Product"),
      EdmEntitySet(name: "Categories", entityType: "ZS.Category"),
    ]
    var set = EdmAssociationSet(name: "PC", association: "ZS.ProductCategory")
    set.ends = [
      EdmAssociationSetEnd(role: "Product", entitySet: "Products"),
      EdmAssociationSetEnd(role: "Category", entitySet: "Categories"),
    ]
    container.associationSets = [set]
    var function = EdmFunctionImport(name: "ByRating")
    function.entitySet = "Products"
    function.parameters = [EdmParameter(name: "rating", type: .primitive(.int16), nullable: false)]
    function.returnType = EdmReturnType(type: .collection(.named("ZS.Product")))
    container.functionImports = [function]
    return container
  }

  private static func navigation(
    _ name: String, _ association: String, _ from: String, _ to: String
  ) -> EdmNavigationProperty {
    var property = EdmNavigationProperty(name: name, type: .named("ZS.Category"))
    property.relationship = EdmRelationship(association: "ZS." + association, fromRole: from, toRole: to)
    return property
  }

  private static func association(
    _ name: String, _ one: (String, String, EdmMultiplicity), _ other: (String, String, EdmMultiplicity)
  ) -> EdmAssociation {
    var association = EdmAssociation(namespace: "ZS", name: name)
    association.ends = [one, other].map { EdmAssociationEnd(role: $0.0, type: $0.1, multiplicity: $0.2) }
    return association
  }
}
