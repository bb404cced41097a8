; Written by `python -m tools.generate_runtime` from a623b98c60764e2ee12c12e56b9aff731a9a9acc939e49e8df59d05871d76d2f

declare <32 x i32> @llvm.umin.v32i32(<32 x i32>, <32 x i32>)

declare double @llvm.trunc.f64(double)

declare i32 @clock_gettime(i32, ptr)

declare i32 @llvm.ctlz.i32(i32, i1)

declare i32 @llvm.ctpop.i32(i32)

declare i32 @llvm.cttz.i32(i32, i1)

declare i32 @llvm.smax.i32(i32, i32)

declare i32 @llvm.umax.i32(i32, i32)

declare i32 @llvm.umin.i32(i32, i32)

declare i32 @llvm.vector.reduce.add.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.and.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.or.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.smax.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.smin.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.umax.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.umin.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.xor.v32i32(<32 x i32>)

declare i64 @llvm.ctpop.i64(i64)

declare i64 @llvm.cttz.i64(i64, i1)

declare i64 @llvm.umax.i64(i64, i64)

declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)

declare void @llvm.lifetime.end.p0(i64, ptr)

declare void @llvm.lifetime.start.p0(i64, ptr)

declare void @llvm.memcpy.p0.p0.i64(ptr noalias, ptr noalias, i64, i1)

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @check_access(ptr %0, ptr %1, ptr %2, ptr initializes((0, 256)) %3, i64 %4, i64 %5) noinline #0 {
  %7 = load <32 x i64>, ptr %2, align 8
  %8 = load i64, ptr %1, align 8
  %9 = insertelement <32 x i64> poison, i64 %8, i64 0
  %10 = shufflevector <32 x i64> %9, <32 x i64> poison, <32 x i32> zeroinitializer
  %11 = sub <32 x i64> %7, %10
  %12 = icmp eq i64 %5, 0
  br i1 %12, label %37, label %13
13:
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %15 = load i64, ptr %14, align 8
  %16 = icmp eq i64 %15, 0
  %17 = select i1 %16, i64 -1, i64 16777215
  %18 = insertelement <32 x i64> poison, i64 %17, i64 0
  %19 = shufflevector <32 x i64> %18, <32 x i64> poison, <32 x i32> zeroinitializer
  %20 = and <32 x i64> %19, %11
  %21 = xor <32 x i64> %20, %11
  %22 = lshr <32 x i64> %21, splat (i64 24)
  %23 = icmp ugt <32 x i64> %21, splat (i64 16777215)
  %24 = insertelement <32 x i64> poison, i64 %5, i64 0
  %25 = shufflevector <32 x i64> %24, <32 x i64> poison, <32 x i32> zeroinitializer
  %26 = sub <32 x i64> %22, %25
  %27 = insertelement <32 x i64> poison, i64 %15, i64 0
  %28 = shufflevector <32 x i64> %27, <32 x i64> poison, <32 x i32> zeroinitializer
  %29 = mul <32 x i64> %26, %28
  %30 = select <32 x i1> %23, <32 x i64> %29, <32 x i64> zeroinitializer
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %32 = load i64, ptr %31, align 8
  %33 = insertelement <32 x i64> poison, i64 %32, i64 0
  %34 = shufflevector <32 x i64> %33, <32 x i64> poison, <32 x i32> zeroinitializer
  %35 = sub <32 x i64> %34, %22
  %36 = and <32 x i64> %35, splat (i64 -9223372036854775808)
  br label %37
37:
  %38 = phi <32 x i64> [ %36, %13 ], [ zeroinitializer, %6 ]
  %39 = phi <32 x i64> [ %30, %13 ], [ zeroinitializer, %6 ]
  %40 = phi <32 x i64> [ %20, %13 ], [ %11, %6 ]
  %41 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %42 = load i64, ptr %41, align 8
  %43 = add i64 %42, -1
  %44 = insertelement <32 x i64> poison, i64 %43, i64 0
  %45 = shufflevector <32 x i64> %44, <32 x i64> poison, <32 x i32> zeroinitializer
  %46 = sub <32 x i64> %45, %40
  %47 = add i64 %4, 9223372036854775807
  %48 = sub i64 0, %4
  %49 = insertelement <32 x i64> poison, i64 %48, i64 0
  %50 = shufflevector <32 x i64> %49, <32 x i64> poison, <32 x i32> zeroinitializer
  %51 = and <32 x i64> %46, %50
  %52 = or <32 x i64> %51, %40
  %53 = or i64 %47, -9223372036854775808
  %54 = insertelement <32 x i64> poison, i64 %53, i64 0
  %55 = shufflevector <32 x i64> %54, <32 x i64> poison, <32 x i32> zeroinitializer
  %56 = and <32 x i64> %52, %55
  %57 = or <32 x i64> %56, %38
  store <32 x i64> %57, ptr %3, align 8
  %58 = add <32 x i64> %40, %39
  store <32 x i64> %58, ptr %2, align 8
  ret void
}

define internal void @load_lanes(ptr %0, ptr %1, i32 %2, i64 %3, i32 %4) noinline #0 {
  %6 = icmp eq i32 %2, -1
  br i1 %6, label %95, label %7
7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds nuw i8, ptr %9, i64 512
  %11 = shl i32 %4, 5
  %12 = zext i32 %11 to i64
  tail call void @llvm.memset.p0.i64(ptr nonnull align 1 %10, i8 0, i64 %12, i1 false)
  %13 = icmp eq i32 %2, 0
  br i1 %13, label %125, label %14
14:
  %15 = getelementptr inbounds nuw i8, ptr %1, i64 %3
  %16 = load ptr, ptr %8, align 8
  %17 = getelementptr inbounds nuw i8, ptr %16, i64 512
  %18 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %2, i1 true)
  %19 = zext nneg i32 %18 to i64
  %20 = zext i32 %2 to i64
  %21 = lshr i64 %20, %19
  %22 = add nuw nsw i64 %21, 1
  %23 = and i64 %22, %21
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %27, label %25
25:
  %26 = zext i32 %4 to i64
  br label %93
27:
  %28 = getelementptr inbounds nuw i8, ptr %16, i64 8
  %29 = load <32 x i64>, ptr %28, align 8
  %30 = load <32 x i64>, ptr %16, align 8
  %31 = sub <32 x i64> %29, %30
  %32 = zext i32 %4 to i64
  %33 = insertelement <32 x i64> poison, i64 %32, i64 0
  %34 = shufflevector <32 x i64> %33, <32 x i64> poison, <32 x i32> zeroinitializer
  %35 = icmp eq <32 x i64> %31, %34
  %36 = bitcast <32 x i1> %35 to i32
  %37 = lshr i32 %2, 1
  %38 = xor i32 %36, -1
  %39 = and i32 %37, %38
  %40 = and i32 %39, %2
  %41 = icmp eq i32 %40, 0
  br i1 %41, label %42, label %93
42:
  %43 = getelementptr inbounds nuw i64, ptr %16, i64 %19
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds nuw i8, ptr %15, i64 %44
  %46 = mul i32 %4, %18
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds nuw i8, ptr %17, i64 %47
  %49 = tail call range(i32 1, 33) i32 @llvm.ctpop.i32(i32 range(i32 1, 0) %2)
  %50 = and i32 %49, 16
  %51 = icmp eq i32 %50, 0
  br i1 %51, label %57, label %52
52:
  %53 = shl i32 %4, 4
  %54 = zext i32 %53 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %48, ptr align 1 %45, i64 %54, i1 false)
  %55 = getelementptr inbounds nuw i8, ptr %45, i64 %54
  %56 = getelementptr inbounds nuw i8, ptr %48, i64 %54
  br label %57
57:
  %58 = phi ptr [ %56, %52 ], [ %48, %42 ]
  %59 = phi ptr [ %55, %52 ], [ %45, %42 ]
  %60 = and i32 %49, 8
  %61 = icmp eq i32 %60, 0
  br i1 %61, label %67, label %62
62:
  %63 = shl i32 %4, 3
  %64 = zext i32 %63 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %58, ptr align 1 %59, i64 %64, i1 false)
  %65 = getelementptr inbounds nuw i8, ptr %59, i64 %64
  %66 = getelementptr inbounds nuw i8, ptr %58, i64 %64
  br label %67
67:
  %68 = phi ptr [ %66, %62 ], [ %58, %57 ]
  %69 = phi ptr [ %65, %62 ], [ %59, %57 ]
  %70 = and i32 %49, 4
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %77, label %72
72:
  %73 = shl i32 %4, 2
  %74 = zext i32 %73 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %68, ptr align 1 %69, i64 %74, i1 false)
  %75 = getelementptr inbounds nuw i8, ptr %69, i64 %74
  %76 = getelementptr inbounds nuw i8, ptr %68, i64 %74
  br label %77
77:
  %78 = phi ptr [ %76, %72 ], [ %68, %67 ]
  %79 = phi ptr [ %75, %72 ], [ %69, %67 ]
  %80 = and i32 %49, 2
  %81 = icmp eq i32 %80, 0
  br i1 %81, label %87, label %82
82:
  %83 = shl i32 %4, 1
  %84 = zext i32 %83 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %78, ptr align 1 %79, i64 %84, i1 false)
  %85 = getelementptr inbounds nuw i8, ptr %79, i64 %84
  %86 = getelementptr inbounds nuw i8, ptr %78, i64 %84
  br label %87
87:
  %88 = phi ptr [ %86, %82 ], [ %78, %77 ]
  %89 = phi ptr [ %85, %82 ], [ %79, %77 ]
  %90 = and i32 %49, 1
  %91 = icmp eq i32 %90, 0
  br i1 %91, label %125, label %92
92:
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %88, ptr align 1 %89, i64 %32, i1 false)
  br label %125
93:
  %94 = phi i64 [ %26, %25 ], [ %32, %27 ]
  br label %112
95:
  %96 = getelementptr inbounds nuw i8, ptr %1, i64 %3
  %97 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %98 = load ptr, ptr %97, align 8
  %99 = getelementptr inbounds nuw i8, ptr %98, i64 512
  %100 = zext i32 %4 to i64
  br label %101
101:
  %102 = phi i64 [ 0, %95 ], [ %110, %101 ]
  %103 = getelementptr inbounds nuw i64, ptr %98, i64 %102
  %104 = load i64, ptr %103, align 8
  %105 = getelementptr inbounds nuw i8, ptr %96, i64 %104
  %106 = trunc nuw nsw i64 %102 to i32
  %107 = mul i32 %4, %106
  %108 = zext i32 %107 to i64
  %109 = getelementptr inbounds nuw i8, ptr %99, i64 %108
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %109, ptr align 1 %105, i64 %100, i1 false)
  %110 = add nuw nsw i64 %102, 1
  %111 = icmp eq i64 %110, 32
  br i1 %111, label %125, label %101
112:
  %113 = phi i32 [ %2, %93 ], [ %123, %112 ]
  %114 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %113, i1 true)
  %115 = zext nneg i32 %114 to i64
  %116 = getelementptr inbounds nuw i64, ptr %16, i64 %115
  %117 = load i64, ptr %116, align 8
  %118 = getelementptr inbounds nuw i8, ptr %15, i64 %117
  %119 = mul i32 %114, %4
  %120 = zext i32 %119 to i64
  %121 = getelementptr inbounds nuw i8, ptr %17, i64 %120
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %121, ptr align 1 %118, i64 %94, i1 false)
  %122 = add i32 %113, -1
  %123 = and i32 %122, %113
  %124 = icmp eq i32 %123, 0
  br i1 %124, label %125, label %112
125:
  ret void
}

define internal void @store_lanes(ptr %0, ptr %1, i32 %2, i64 %3, i32 %4) noinline #0 {
  %6 = icmp eq i32 %2, 0
  br i1 %6, label %117, label %7
7:
  %8 = getelementptr inbounds nuw i8, ptr %1, i64 %3
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %10, i64 512
  %12 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %2, i1 true)
  %13 = zext nneg i32 %12 to i64
  %14 = icmp eq i32 %2, -1
  br i1 %14, label %15, label %17
15:
  %16 = zext i32 %4 to i64
  br label %93
17:
  %18 = zext i32 %2 to i64
  %19 = lshr i64 %18, %13
  %20 = add nuw nsw i64 %19, 1
  %21 = and i64 %20, %19
  %22 = icmp eq i64 %21, 0
  br i1 %22, label %25, label %23
23:
  %24 = zext i32 %4 to i64
  br label %91
25:
  %26 = getelementptr inbounds nuw i8, ptr %10, i64 8
  %27 = load <32 x i64>, ptr %26, align 8
  %28 = load <32 x i64>, ptr %10, align 8
  %29 = sub <32 x i64> %27, %28
  %30 = zext i32 %4 to i64
  %31 = insertelement <32 x i64> poison, i64 %30, i64 0
  %32 = shufflevector <32 x i64> %31, <32 x i64> poison, <32 x i32> zeroinitializer
  %33 = icmp eq <32 x i64> %29, %32
  %34 = bitcast <32 x i1> %33 to i32
  %35 = lshr i32 %2, 1
  %36 = xor i32 %34, -1
  %37 = and i32 %35, %36
  %38 = and i32 %37, %2
  %39 = icmp eq i32 %38, 0
  br i1 %39, label %40, label %91
40:
  %41 = getelementptr inbounds nuw i64, ptr %10, i64 %13
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds nuw i8, ptr %8, i64 %42
  %44 = mul i32 %4, %12
  %45 = zext i32 %44 to i64
  %46 = getelementptr inbounds nuw i8, ptr %11, i64 %45
  %47 = tail call range(i32 1, 33) i32 @llvm.ctpop.i32(i32 range(i32 1, 0) %2)
  %48 = and i32 %47, 16
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %55, label %50
50:
  %51 = shl i32 %4, 4
  %52 = zext i32 %51 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %43, ptr nonnull align 1 %46, i64 %52, i1 false)
  %53 = getelementptr inbounds nuw i8, ptr %43, i64 %52
  %54 = getelementptr inbounds nuw i8, ptr %46, i64 %52
  br label %55
55:
  %56 = phi ptr [ %54, %50 ], [ %46, %40 ]
  %57 = phi ptr [ %53, %50 ], [ %43, %40 ]
  %58 = and i32 %47, 8
  %59 = icmp eq i32 %58, 0
  br i1 %59, label %65, label %60
60:
  %61 = shl i32 %4, 3
  %62 = zext i32 %61 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %57, ptr nonnull align 1 %56, i64 %62, i1 false)
  %63 = getelementptr inbounds nuw i8, ptr %57, i64 %62
  %64 = getelementptr inbounds nuw i8, ptr %56, i64 %62
  br label %65
65:
  %66 = phi ptr [ %64, %60 ], [ %56, %55 ]
  %67 = phi ptr [ %63, %60 ], [ %57, %55 ]
  %68 = and i32 %47, 4
  %69 = icmp eq i32 %68, 0
  br i1 %69, label %75, label %70
70:
  %71 = shl i32 %4, 2
  %72 = zext i32 %71 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %67, ptr align 1 %66, i64 %72, i1 false)
  %73 = getelementptr inbounds nuw i8, ptr %67, i64 %72
  %74 = getelementptr inbounds nuw i8, ptr %66, i64 %72
  br label %75
75:
  %76 = phi ptr [ %74, %70 ], [ %66, %65 ]
  %77 = phi ptr [ %73, %70 ], [ %67, %65 ]
  %78 = and i32 %47, 2
  %79 = icmp eq i32 %78, 0
  br i1 %79, label %85, label %80
80:
  %81 = shl i32 %4, 1
  %82 = zext i32 %81 to i64
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %77, ptr align 1 %76, i64 %82, i1 false)
  %83 = getelementptr inbounds nuw i8, ptr %77, i64 %82
  %84 = getelementptr inbounds nuw i8, ptr %76, i64 %82
  br label %85
85:
  %86 = phi ptr [ %84, %80 ], [ %76, %75 ]
  %87 = phi ptr [ %83, %80 ], [ %77, %75 ]
  %88 = and i32 %47, 1
  %89 = icmp eq i32 %88, 0
  br i1 %89, label %117, label %90
90:
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %87, ptr align 1 %86, i64 %30, i1 false)
  br label %117
91:
  %92 = phi i64 [ %24, %23 ], [ %30, %25 ]
  br label %104
93:
  %94 = phi i64 [ 0, %15 ], [ %102, %93 ]
  %95 = getelementptr inbounds nuw i64, ptr %10, i64 %94
  %96 = load i64, ptr %95, align 8
  %97 = getelementptr inbounds nuw i8, ptr %8, i64 %96
  %98 = trunc nuw nsw i64 %94 to i32
  %99 = mul i32 %4, %98
  %100 = zext i32 %99 to i64
  %101 = getelementptr inbounds nuw i8, ptr %11, i64 %100
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %97, ptr nonnull align 1 %101, i64 %16, i1 false)
  %102 = add nuw nsw i64 %94, 1
  %103 = icmp eq i64 %102, 32
  br i1 %103, label %117, label %93
104:
  %105 = phi i32 [ %2, %91 ], [ %115, %104 ]
  %106 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %105, i1 true)
  %107 = zext nneg i32 %106 to i64
  %108 = getelementptr inbounds nuw i64, ptr %10, i64 %107
  %109 = load i64, ptr %108, align 8
  %110 = getelementptr inbounds nuw i8, ptr %8, i64 %109
  %111 = mul i32 %106, %4
  %112 = zext i32 %111 to i64
  %113 = getelementptr inbounds nuw i8, ptr %11, i64 %112
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %110, ptr nonnull align 1 %113, i64 %92, i1 false)
  %114 = add i32 %105, -1
  %115 = and i32 %114, %105
  %116 = icmp eq i32 %115, 0
  br i1 %116, label %117, label %104
117:
  ret void
}

define internal void @mark_lanes(ptr %0, ptr %1, i32 %2, i64 %3, i32 %4) noinline #0 {
  %6 = icmp eq i32 %2, 0
  br i1 %6, label %22, label %7
7:
  %8 = getelementptr inbounds nuw i8, ptr %1, i64 %3
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = zext i32 %4 to i64
  br label %11
11:
  %12 = phi i32 [ %2, %7 ], [ %20, %11 ]
  %13 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %12, i1 true)
  %14 = load ptr, ptr %9, align 8
  %15 = zext nneg i32 %13 to i64
  %16 = getelementptr inbounds nuw i64, ptr %14, i64 %15
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds nuw i8, ptr %8, i64 %17
  tail call void @llvm.memset.p0.i64(ptr align 1 %18, i8 0, i64 %10, i1 false)
  %19 = add i32 %12, -1
  %20 = and i32 %19, %12
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %22, label %11
22:
  ret void
}

define internal void @update_lanes(ptr %0, ptr %1, i32 %2, i32 %3, ptr %4, i32 %5) noinline #0 {
  switch i32 %2, label %7 [
    i32 -1, label %10
    i32 0, label %213
  ]
7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = icmp eq i32 %5, 0
  br label %112
10:
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %12 = icmp eq i32 %5, 0
  br label %13
13:
  %14 = phi i64 [ 0, %10 ], [ %110, %109 ]
  %15 = load ptr, ptr %11, align 8
  %16 = getelementptr inbounds nuw i64, ptr %15, i64 %14
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 %17
  %19 = getelementptr inbounds nuw i8, ptr %15, i64 512
  %20 = trunc nuw nsw i64 %14 to i32
  %21 = mul i32 %3, %20
  %22 = zext i32 %21 to i64
  %23 = getelementptr inbounds nuw i8, ptr %19, i64 %22
  switch i32 %3, label %38 [
    i32 2, label %24
    i32 4, label %31
  ]
24:
  %25 = load i16, ptr %23, align 2
  %26 = zext i16 %25 to i64
  %27 = getelementptr inbounds nuw i8, ptr %15, i64 1024
  %28 = getelementptr inbounds nuw i8, ptr %27, i64 %22
  %29 = load i16, ptr %28, align 2
  %30 = zext i16 %29 to i64
  br label %43
31:
  %32 = load i32, ptr %23, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds nuw i8, ptr %15, i64 1024
  %35 = getelementptr inbounds nuw i8, ptr %34, i64 %22
  %36 = load i32, ptr %35, align 4
  %37 = zext i32 %36 to i64
  br label %43
38:
  %39 = load i64, ptr %23, align 8
  %40 = getelementptr inbounds nuw i8, ptr %15, i64 1024
  %41 = getelementptr inbounds nuw i8, ptr %40, i64 %22
  %42 = load i64, ptr %41, align 8
  br label %43
43:
  %44 = phi i64 [ %26, %24 ], [ %33, %31 ], [ %39, %38 ]
  %45 = phi i64 [ %30, %24 ], [ %37, %31 ], [ %42, %38 ]
  br i1 %12, label %46, label %66
46:
  switch i32 %3, label %63 [
    i32 2, label %47
    i32 4, label %55
  ]
47:
  %48 = load i16, ptr %18, align 2
  %49 = zext i16 %48 to i64
  %50 = tail call i64 %4(i64 %49, i64 %44, i64 %45)
  %51 = trunc i64 %50 to i16
  store i16 %51, ptr %18, align 2
  %52 = load ptr, ptr %11, align 8
  %53 = getelementptr inbounds nuw i8, ptr %52, i64 1536
  %54 = getelementptr inbounds nuw i8, ptr %53, i64 %22
  br label %100
55:
  %56 = load i32, ptr %18, align 4
  %57 = zext i32 %56 to i64
  %58 = tail call i64 %4(i64 %57, i64 %44, i64 %45)
  %59 = trunc i64 %58 to i32
  store i32 %59, ptr %18, align 4
  %60 = load ptr, ptr %11, align 8
  %61 = getelementptr inbounds nuw i8, ptr %60, i64 1536
  %62 = getelementptr inbounds nuw i8, ptr %61, i64 %22
  br label %104
63:
  %64 = load i64, ptr %18, align 8
  %65 = tail call i64 %4(i64 %64, i64 %44, i64 %45)
  store i64 %65, ptr %18, align 8
  br label %95
66:
  switch i32 %3, label %87 [
    i32 2, label %67
    i32 4, label %77
  ]
67:
  %68 = load atomic i16, ptr %18 monotonic, align 2
  br label %69
69:
  %70 = phi i16 [ %68, %67 ], [ %76, %69 ]
  %71 = zext i16 %70 to i64
  %72 = tail call i64 %4(i64 %71, i64 %44, i64 %45)
  %73 = trunc i64 %72 to i16
  %74 = cmpxchg weak ptr %18, i16 %70, i16 %73 monotonic monotonic, align 2
  %75 = extractvalue { i16, i1 } %74, 1
  %76 = extractvalue { i16, i1 } %74, 0
  br i1 %75, label %95, label %69
77:
  %78 = load atomic i32, ptr %18 monotonic, align 4
  br label %79
79:
  %80 = phi i32 [ %78, %77 ], [ %86, %79 ]
  %81 = zext i32 %80 to i64
  %82 = tail call i64 %4(i64 %81, i64 %44, i64 %45)
  %83 = trunc i64 %82 to i32
  %84 = cmpxchg weak ptr %18, i32 %80, i32 %83 monotonic monotonic, align 4
  %85 = extractvalue { i32, i1 } %84, 1
  %86 = extractvalue { i32, i1 } %84, 0
  br i1 %85, label %95, label %79
87:
  %88 = load atomic i64, ptr %18 monotonic, align 8
  br label %89
89:
  %90 = phi i64 [ %88, %87 ], [ %94, %89 ]
  %91 = tail call i64 %4(i64 %90, i64 %44, i64 %45)
  %92 = cmpxchg weak ptr %18, i64 %90, i64 %91 monotonic monotonic, align 8
  %93 = extractvalue { i64, i1 } %92, 1
  %94 = extractvalue { i64, i1 } %92, 0
  br i1 %93, label %95, label %89
95:
  %96 = phi i64 [ %64, %63 ], [ %90, %89 ], [ %71, %69 ], [ %81, %79 ]
  %97 = load ptr, ptr %11, align 8
  %98 = getelementptr inbounds nuw i8, ptr %97, i64 1536
  %99 = getelementptr inbounds nuw i8, ptr %98, i64 %22
  switch i32 %3, label %108 [
    i32 2, label %100
    i32 4, label %104
  ]
100:
  %101 = phi ptr [ %54, %47 ], [ %99, %95 ]
  %102 = phi i64 [ %49, %47 ], [ %96, %95 ]
  %103 = trunc i64 %102 to i16
  store i16 %103, ptr %101, align 2
  br label %109
104:
  %105 = phi ptr [ %62, %55 ], [ %99, %95 ]
  %106 = phi i64 [ %57, %55 ], [ %96, %95 ]
  %107 = trunc i64 %106 to i32
  store i32 %107, ptr %105, align 4
  br label %109
108:
  store i64 %96, ptr %99, align 8
  br label %109
109:
  %110 = add nuw nsw i64 %14, 1
  %111 = icmp eq i64 %110, 32
  br i1 %111, label %213, label %13
112:
  %113 = phi i32 [ %2, %7 ], [ %211, %209 ]
  %114 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %113, i1 true)
  %115 = load ptr, ptr %8, align 8
  %116 = zext nneg i32 %114 to i64
  %117 = getelementptr inbounds nuw i64, ptr %115, i64 %116
  %118 = load i64, ptr %117, align 8
  %119 = getelementptr inbounds nuw i8, ptr %1, i64 %118
  %120 = getelementptr inbounds nuw i8, ptr %115, i64 512
  %121 = mul i32 %114, %3
  %122 = zext i32 %121 to i64
  %123 = getelementptr inbounds nuw i8, ptr %120, i64 %122
  switch i32 %3, label %138 [
    i32 2, label %124
    i32 4, label %131
  ]
124:
  %125 = load i16, ptr %123, align 2
  %126 = zext i16 %125 to i64
  %127 = getelementptr inbounds nuw i8, ptr %115, i64 1024
  %128 = getelementptr inbounds nuw i8, ptr %127, i64 %122
  %129 = load i16, ptr %128, align 2
  %130 = zext i16 %129 to i64
  br label %143
131:
  %132 = load i32, ptr %123, align 4
  %133 = zext i32 %132 to i64
  %134 = getelementptr inbounds nuw i8, ptr %115, i64 1024
  %135 = getelementptr inbounds nuw i8, ptr %134, i64 %122
  %136 = load i32, ptr %135, align 4
  %137 = zext i32 %136 to i64
  br label %143
138:
  %139 = load i64, ptr %123, align 8
  %140 = getelementptr inbounds nuw i8, ptr %115, i64 1024
  %141 = getelementptr inbounds nuw i8, ptr %140, i64 %122
  %142 = load i64, ptr %141, align 8
  br label %143
143:
  %144 = phi i64 [ %126, %124 ], [ %133, %131 ], [ %139, %138 ]
  %145 = phi i64 [ %130, %124 ], [ %137, %131 ], [ %142, %138 ]
  br i1 %9, label %146, label %166
146:
  switch i32 %3, label %163 [
    i32 2, label %147
    i32 4, label %155
  ]
147:
  %148 = load i16, ptr %119, align 2
  %149 = zext i16 %148 to i64
  %150 = tail call i64 %4(i64 %149, i64 %144, i64 %145)
  %151 = trunc i64 %150 to i16
  store i16 %151, ptr %119, align 2
  %152 = load ptr, ptr %8, align 8
  %153 = getelementptr inbounds nuw i8, ptr %152, i64 1536
  %154 = getelementptr inbounds nuw i8, ptr %153, i64 %122
  br label %200
155:
  %156 = load i32, ptr %119, align 4
  %157 = zext i32 %156 to i64
  %158 = tail call i64 %4(i64 %157, i64 %144, i64 %145)
  %159 = trunc i64 %158 to i32
  store i32 %159, ptr %119, align 4
  %160 = load ptr, ptr %8, align 8
  %161 = getelementptr inbounds nuw i8, ptr %160, i64 1536
  %162 = getelementptr inbounds nuw i8, ptr %161, i64 %122
  br label %204
163:
  %164 = load i64, ptr %119, align 8
  %165 = tail call i64 %4(i64 %164, i64 %144, i64 %145)
  store i64 %165, ptr %119, align 8
  br label %195
166:
  switch i32 %3, label %187 [
    i32 2, label %167
    i32 4, label %177
  ]
167:
  %168 = load atomic i16, ptr %119 monotonic, align 2
  br label %169
169:
  %170 = phi i16 [ %168, %167 ], [ %176, %169 ]
  %171 = zext i16 %170 to i64
  %172 = tail call i64 %4(i64 %171, i64 %144, i64 %145)
  %173 = trunc i64 %172 to i16
  %174 = cmpxchg weak ptr %119, i16 %170, i16 %173 monotonic monotonic, align 2
  %175 = extractvalue { i16, i1 } %174, 1
  %176 = extractvalue { i16, i1 } %174, 0
  br i1 %175, label %195, label %169
177:
  %178 = load atomic i32, ptr %119 monotonic, align 4
  br label %179
179:
  %180 = phi i32 [ %178, %177 ], [ %186, %179 ]
  %181 = zext i32 %180 to i64
  %182 = tail call i64 %4(i64 %181, i64 %144, i64 %145)
  %183 = trunc i64 %182 to i32
  %184 = cmpxchg weak ptr %119, i32 %180, i32 %183 monotonic monotonic, align 4
  %185 = extractvalue { i32, i1 } %184, 1
  %186 = extractvalue { i32, i1 } %184, 0
  br i1 %185, label %195, label %179
187:
  %188 = load atomic i64, ptr %119 monotonic, align 8
  br label %189
189:
  %190 = phi i64 [ %188, %187 ], [ %194, %189 ]
  %191 = tail call i64 %4(i64 %190, i64 %144, i64 %145)
  %192 = cmpxchg weak ptr %119, i64 %190, i64 %191 monotonic monotonic, align 8
  %193 = extractvalue { i64, i1 } %192, 1
  %194 = extractvalue { i64, i1 } %192, 0
  br i1 %193, label %195, label %189
195:
  %196 = phi i64 [ %164, %163 ], [ %190, %189 ], [ %171, %169 ], [ %181, %179 ]
  %197 = load ptr, ptr %8, align 8
  %198 = getelementptr inbounds nuw i8, ptr %197, i64 1536
  %199 = getelementptr inbounds nuw i8, ptr %198, i64 %122
  switch i32 %3, label %208 [
    i32 2, label %200
    i32 4, label %204
  ]
200:
  %201 = phi ptr [ %154, %147 ], [ %199, %195 ]
  %202 = phi i64 [ %149, %147 ], [ %196, %195 ]
  %203 = trunc i64 %202 to i16
  store i16 %203, ptr %201, align 2
  br label %209
204:
  %205 = phi ptr [ %162, %155 ], [ %199, %195 ]
  %206 = phi i64 [ %157, %155 ], [ %196, %195 ]
  %207 = trunc i64 %206 to i32
  store i32 %207, ptr %205, align 4
  br label %209
208:
  store i64 %196, ptr %199, align 8
  br label %209
209:
  %210 = add i32 %113, -1
  %211 = and i32 %210, %113
  %212 = icmp eq i32 %211, 0
  br i1 %212, label %213, label %112
213:
  ret void
}

define internal void @reduce_once(ptr %0, i64 %1, i32 %2, i32 %3, ptr %4) noinline #0 {
  %6 = icmp eq i32 %2, 0
  br i1 %6, label %7, label %21
7:
  switch i32 %3, label %18 [
    i32 2, label %8
    i32 4, label %13
  ]
8:
  %9 = load i16, ptr %0, align 2
  %10 = zext i16 %9 to i64
  %11 = tail call i64 %4(i64 %10, i64 %1, i64 0)
  %12 = trunc i64 %11 to i16
  store i16 %12, ptr %0, align 2
  br label %50
13:
  %14 = load i32, ptr %0, align 4
  %15 = zext i32 %14 to i64
  %16 = tail call i64 %4(i64 %15, i64 %1, i64 0)
  %17 = trunc i64 %16 to i32
  store i32 %17, ptr %0, align 4
  br label %50
18:
  %19 = load i64, ptr %0, align 8
  %20 = tail call i64 %4(i64 %19, i64 %1, i64 0)
  store i64 %20, ptr %0, align 8
  br label %50
21:
  switch i32 %3, label %42 [
    i32 2, label %22
    i32 4, label %32
  ]
22:
  %23 = load atomic i16, ptr %0 monotonic, align 2
  br label %24
24:
  %25 = phi i16 [ %23, %22 ], [ %31, %24 ]
  %26 = zext i16 %25 to i64
  %27 = tail call i64 %4(i64 %26, i64 %1, i64 0)
  %28 = trunc i64 %27 to i16
  %29 = cmpxchg weak ptr %0, i16 %25, i16 %28 monotonic monotonic, align 2
  %30 = extractvalue { i16, i1 } %29, 1
  %31 = extractvalue { i16, i1 } %29, 0
  br i1 %30, label %50, label %24
32:
  %33 = load atomic i32, ptr %0 monotonic, align 4
  br label %34
34:
  %35 = phi i32 [ %33, %32 ], [ %41, %34 ]
  %36 = zext i32 %35 to i64
  %37 = tail call i64 %4(i64 %36, i64 %1, i64 0)
  %38 = trunc i64 %37 to i32
  %39 = cmpxchg weak ptr %0, i32 %35, i32 %38 monotonic monotonic, align 4
  %40 = extractvalue { i32, i1 } %39, 1
  %41 = extractvalue { i32, i1 } %39, 0
  br i1 %40, label %50, label %34
42:
  %43 = load atomic i64, ptr %0 monotonic, align 8
  br label %44
44:
  %45 = phi i64 [ %43, %42 ], [ %49, %44 ]
  %46 = tail call i64 %4(i64 %45, i64 %1, i64 0)
  %47 = cmpxchg weak ptr %0, i64 %45, i64 %46 monotonic monotonic, align 8
  %48 = extractvalue { i64, i1 } %47, 1
  %49 = extractvalue { i64, i1 } %47, 0
  br i1 %48, label %50, label %44
50:
  ret void
}

define internal void @reduce_lanes(ptr %0, ptr %1, i32 %2, i32 %3, ptr %4, i32 %5, i32 %6) noinline #0 {
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = load ptr, ptr %8, align 8
  %10 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %2, i1 true)
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i64, ptr %9, i64 %11
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds nuw i8, ptr %9, i64 512
  %15 = icmp eq i32 %6, 0
  br i1 %15, label %16, label %22
16:
  %17 = icmp eq i32 %5, 0
  br i1 %17, label %22, label %18
18:
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %20 = load i32, ptr %19, align 4
  %21 = icmp eq i32 %20, 0
  br label %22
22:
  %23 = phi i1 [ false, %7 ], [ true, %16 ], [ %21, %18 ]
  %24 = load <32 x i64>, ptr %9, align 8
  %25 = insertelement <32 x i64> poison, i64 %13, i64 0
  %26 = shufflevector <32 x i64> %25, <32 x i64> poison, <32 x i32> zeroinitializer
  %27 = icmp ne <32 x i64> %24, %26
  %28 = bitcast <32 x i1> %27 to i32
  %29 = and i32 %2, %28
  %30 = icmp eq i32 %29, 0
  br i1 %30, label %100, label %31
31:
  %32 = icmp eq i32 %2, 0
  br i1 %32, label %206, label %33
33:
  %34 = phi i32 [ %98, %96 ], [ %2, %31 ]
  %35 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %34, i1 true)
  %36 = mul i32 %35, %3
  %37 = zext i32 %36 to i64
  %38 = getelementptr inbounds nuw i8, ptr %14, i64 %37
  switch i32 %3, label %45 [
    i32 2, label %39
    i32 4, label %42
  ]
39:
  %40 = load i16, ptr %38, align 2
  %41 = zext i16 %40 to i64
  br label %47
42:
  %43 = load i32, ptr %38, align 4
  %44 = zext i32 %43 to i64
  br label %47
45:
  %46 = load i64, ptr %38, align 8
  br label %47
47:
  %48 = phi i64 [ %41, %39 ], [ %44, %42 ], [ %46, %45 ]
  %49 = zext nneg i32 %35 to i64
  %50 = getelementptr inbounds nuw i64, ptr %9, i64 %49
  %51 = load i64, ptr %50, align 8
  %52 = getelementptr inbounds nuw i8, ptr %1, i64 %51
  br i1 %23, label %53, label %67
53:
  switch i32 %3, label %64 [
    i32 2, label %54
    i32 4, label %59
  ]
54:
  %55 = load i16, ptr %52, align 2
  %56 = zext i16 %55 to i64
  %57 = tail call i64 %4(i64 %56, i64 %48, i64 0)
  %58 = trunc i64 %57 to i16
  store i16 %58, ptr %52, align 2
  br label %96
59:
  %60 = load i32, ptr %52, align 4
  %61 = zext i32 %60 to i64
  %62 = tail call i64 %4(i64 %61, i64 %48, i64 0)
  %63 = trunc i64 %62 to i32
  store i32 %63, ptr %52, align 4
  br label %96
64:
  %65 = load i64, ptr %52, align 8
  %66 = tail call i64 %4(i64 %65, i64 %48, i64 0)
  store i64 %66, ptr %52, align 8
  br label %96
67:
  switch i32 %3, label %88 [
    i32 2, label %68
    i32 4, label %78
  ]
68:
  %69 = load atomic i16, ptr %52 monotonic, align 2
  br label %70
70:
  %71 = phi i16 [ %69, %68 ], [ %77, %70 ]
  %72 = zext i16 %71 to i64
  %73 = tail call i64 %4(i64 %72, i64 %48, i64 0)
  %74 = trunc i64 %73 to i16
  %75 = cmpxchg weak ptr %52, i16 %71, i16 %74 monotonic monotonic, align 2
  %76 = extractvalue { i16, i1 } %75, 1
  %77 = extractvalue { i16, i1 } %75, 0
  br i1 %76, label %96, label %70
78:
  %79 = load atomic i32, ptr %52 monotonic, align 4
  br label %80
80:
  %81 = phi i32 [ %79, %78 ], [ %87, %80 ]
  %82 = zext i32 %81 to i64
  %83 = tail call i64 %4(i64 %82, i64 %48, i64 0)
  %84 = trunc i64 %83 to i32
  %85 = cmpxchg weak ptr %52, i32 %81, i32 %84 monotonic monotonic, align 4
  %86 = extractvalue { i32, i1 } %85, 1
  %87 = extractvalue { i32, i1 } %85, 0
  br i1 %86, label %96, label %80
88:
  %89 = load atomic i64, ptr %52 monotonic, align 8
  br label %90
90:
  %91 = phi i64 [ %89, %88 ], [ %95, %90 ]
  %92 = tail call i64 %4(i64 %91, i64 %48, i64 0)
  %93 = cmpxchg weak ptr %52, i64 %91, i64 %92 monotonic monotonic, align 8
  %94 = extractvalue { i64, i1 } %93, 1
  %95 = extractvalue { i64, i1 } %93, 0
  br i1 %94, label %96, label %90
96:
  %97 = add i32 %34, -1
  %98 = and i32 %97, %34
  %99 = icmp eq i32 %98, 0
  br i1 %99, label %206, label %33
100:
  %101 = mul i32 %10, %3
  %102 = zext i32 %101 to i64
  %103 = getelementptr inbounds nuw i8, ptr %14, i64 %102
  switch i32 %3, label %110 [
    i32 2, label %104
    i32 4, label %107
  ]
104:
  %105 = load i16, ptr %103, align 2
  %106 = zext i16 %105 to i64
  br label %112
107:
  %108 = load i32, ptr %103, align 4
  %109 = zext i32 %108 to i64
  br label %112
110:
  %111 = load i64, ptr %103, align 8
  br label %112
112:
  %113 = phi i64 [ %106, %104 ], [ %109, %107 ], [ %111, %110 ]
  %114 = icmp eq i32 %2, -1
  br i1 %114, label %115, label %135
115:
  %116 = phi i64 [ %133, %130 ], [ 1, %112 ]
  %117 = phi i64 [ %132, %130 ], [ %113, %112 ]
  %118 = trunc nuw nsw i64 %116 to i32
  %119 = mul i32 %3, %118
  %120 = zext i32 %119 to i64
  %121 = getelementptr inbounds nuw i8, ptr %14, i64 %120
  switch i32 %3, label %128 [
    i32 2, label %122
    i32 4, label %125
  ]
122:
  %123 = load i16, ptr %121, align 2
  %124 = zext i16 %123 to i64
  br label %130
125:
  %126 = load i32, ptr %121, align 4
  %127 = zext i32 %126 to i64
  br label %130
128:
  %129 = load i64, ptr %121, align 8
  br label %130
130:
  %131 = phi i64 [ %124, %122 ], [ %127, %125 ], [ %129, %128 ]
  %132 = tail call i64 %4(i64 %117, i64 %131, i64 0)
  %133 = add nuw nsw i64 %116, 1
  %134 = icmp eq i64 %133, 32
  br i1 %134, label %160, label %115
135:
  %136 = add i32 %2, -1
  %137 = and i32 %136, %2
  %138 = icmp eq i32 %137, 0
  br i1 %138, label %160, label %139
139:
  %140 = phi i32 [ %158, %154 ], [ %137, %135 ]
  %141 = phi i64 [ %156, %154 ], [ %113, %135 ]
  %142 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %140, i1 true)
  %143 = mul i32 %142, %3
  %144 = zext i32 %143 to i64
  %145 = getelementptr inbounds nuw i8, ptr %14, i64 %144
  switch i32 %3, label %152 [
    i32 2, label %146
    i32 4, label %149
  ]
146:
  %147 = load i16, ptr %145, align 2
  %148 = zext i16 %147 to i64
  br label %154
149:
  %150 = load i32, ptr %145, align 4
  %151 = zext i32 %150 to i64
  br label %154
152:
  %153 = load i64, ptr %145, align 8
  br label %154
154:
  %155 = phi i64 [ %148, %146 ], [ %151, %149 ], [ %153, %152 ]
  %156 = tail call i64 %4(i64 %141, i64 %155, i64 0)
  %157 = add i32 %140, -1
  %158 = and i32 %157, %140
  %159 = icmp eq i32 %158, 0
  br i1 %159, label %160, label %139
160:
  %161 = phi i64 [ %113, %135 ], [ %132, %130 ], [ %156, %154 ]
  %162 = getelementptr inbounds nuw i8, ptr %1, i64 %13
  br i1 %23, label %163, label %177
163:
  switch i32 %3, label %174 [
    i32 2, label %164
    i32 4, label %169
  ]
164:
  %165 = load i16, ptr %162, align 2
  %166 = zext i16 %165 to i64
  %167 = tail call i64 %4(i64 %166, i64 %161, i64 0)
  %168 = trunc i64 %167 to i16
  store i16 %168, ptr %162, align 2
  br label %206
169:
  %170 = load i32, ptr %162, align 4
  %171 = zext i32 %170 to i64
  %172 = tail call i64 %4(i64 %171, i64 %161, i64 0)
  %173 = trunc i64 %172 to i32
  store i32 %173, ptr %162, align 4
  br label %206
174:
  %175 = load i64, ptr %162, align 8
  %176 = tail call i64 %4(i64 %175, i64 %161, i64 0)
  store i64 %176, ptr %162, align 8
  br label %206
177:
  switch i32 %3, label %198 [
    i32 2, label %178
    i32 4, label %188
  ]
178:
  %179 = load atomic i16, ptr %162 monotonic, align 2
  br label %180
180:
  %181 = phi i16 [ %179, %178 ], [ %187, %180 ]
  %182 = zext i16 %181 to i64
  %183 = tail call i64 %4(i64 %182, i64 %161, i64 0)
  %184 = trunc i64 %183 to i16
  %185 = cmpxchg weak ptr %162, i16 %181, i16 %184 monotonic monotonic, align 2
  %186 = extractvalue { i16, i1 } %185, 1
  %187 = extractvalue { i16, i1 } %185, 0
  br i1 %186, label %206, label %180
188:
  %189 = load atomic i32, ptr %162 monotonic, align 4
  br label %190
190:
  %191 = phi i32 [ %189, %188 ], [ %197, %190 ]
  %192 = zext i32 %191 to i64
  %193 = tail call i64 %4(i64 %192, i64 %161, i64 0)
  %194 = trunc i64 %193 to i32
  %195 = cmpxchg weak ptr %162, i32 %191, i32 %194 monotonic monotonic, align 4
  %196 = extractvalue { i32, i1 } %195, 1
  %197 = extractvalue { i32, i1 } %195, 0
  br i1 %196, label %206, label %190
198:
  %199 = load atomic i64, ptr %162 monotonic, align 8
  br label %200
200:
  %201 = phi i64 [ %199, %198 ], [ %205, %200 ]
  %202 = tail call i64 %4(i64 %201, i64 %161, i64 0)
  %203 = cmpxchg weak ptr %162, i64 %201, i64 %202 monotonic monotonic, align 8
  %204 = extractvalue { i64, i1 } %203, 1
  %205 = extractvalue { i64, i1 } %203, 0
  br i1 %204, label %206, label %200
206:
  ret void
}

define internal void @arrive(ptr %0, i32 %1, i32 %2) noinline #0 {
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 48), align 4
  %5 = shl i32 %1, 4
  %6 = add i32 %4, %5
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 %7
  br label %27
9:
  %10 = icmp eq i32 %33, 0
  br i1 %10, label %16, label %11
11:
  %12 = load i32, ptr %0, align 4
  %13 = xor i32 %33, -1
  %14 = and i32 %12, %13
  %15 = icmp eq i32 %14, 0
  br i1 %15, label %18, label %16
16:
  %17 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %33)
  br label %18
18:
  %19 = phi i32 [ %17, %16 ], [ 32, %11 ]
  %20 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 52), align 4
  %21 = shl i32 %1, 2
  %22 = add i32 %20, %21
  %23 = zext i32 %22 to i64
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 %23
  %25 = load i32, ptr %24, align 4
  %26 = add i32 %25, %19
  store i32 %26, ptr %24, align 4
  ret void
27:
  %28 = phi i64 [ 0, %3 ], [ %34, %27 ]
  %29 = phi i32 [ %2, %3 ], [ %33, %27 ]
  %30 = getelementptr inbounds nuw i32, ptr %8, i64 %28
  %31 = load i32, ptr %30, align 4
  %32 = or i32 %31, %29
  store i32 %32, ptr %30, align 4
  %33 = and i32 %31, %29
  %34 = add nuw nsw i64 %28, 1
  %35 = icmp eq i64 %34, 4
  br i1 %35, label %9, label %27
}

define internal i32 @check_barrier(ptr %0, i32 %1, i32 %2) noinline #0 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %5 = load i64, ptr %4, align 8
  %6 = icmp eq i64 %5, 0
  br i1 %6, label %239, label %7
7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %9 = load ptr, ptr %8, align 8
  %10 = load i32, ptr @kernel, align 4
  %11 = zext i32 %10 to i64
  %12 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 48), align 4
  %13 = shl i32 %1, 4
  %14 = add i32 %12, %13
  %15 = zext i32 %14 to i64
  %16 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 52), align 4
  %17 = shl i32 %1, 2
  %18 = add i32 %16, %17
  %19 = zext i32 %18 to i64
  br label %45
20:
  %21 = icmp ne i32 %90, 0
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %23 = load i32, ptr @kernel, align 4
  %24 = zext i32 %23 to i64
  %25 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 84), align 4
  %26 = icmp eq i32 %25, 0
  %27 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %28 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 60), align 4
  %29 = zext i32 %28 to i64
  %30 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 56), align 4
  %31 = zext i32 %30 to i64
  %32 = insertelement <32 x i32> poison, i32 %1, i64 0
  %33 = shufflevector <32 x i32> %32, <32 x i32> poison, <32 x i32> zeroinitializer
  %34 = insertelement <32 x i32> poison, i32 %88, i64 0
  %35 = shufflevector <32 x i32> %34, <32 x i32> poison, <32 x i32> zeroinitializer
  %36 = insertelement <32 x i1> poison, i1 %21, i64 0
  %37 = shufflevector <32 x i1> %36, <32 x i1> poison, <32 x i32> zeroinitializer
  %38 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 76), align 4
  %39 = zext i32 %38 to i64
  %40 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 80), align 4
  %41 = zext i32 %40 to i64
  %42 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 72), align 4
  %43 = zext i32 %42 to i64
  %44 = zext i32 %25 to i64
  br label %127
45:
  %46 = phi i32 [ 0, %7 ], [ %88, %59 ]
  %47 = phi i32 [ 15, %7 ], [ %90, %59 ]
  %48 = phi i64 [ 0, %7 ], [ %60, %59 ]
  %49 = mul i64 %48, %11
  %50 = getelementptr inbounds nuw i8, ptr %9, i64 %49
  %51 = load i32, ptr %50, align 4
  %52 = freeze i32 %51
  %53 = getelementptr inbounds nuw i8, ptr %50, i64 %15
  %54 = getelementptr inbounds nuw i8, ptr %50, i64 %19
  %55 = load i32, ptr %54, align 4
  %56 = add i32 %55, %46
  %57 = icmp eq i32 %52, 0
  %58 = freeze i32 %56
  br label %62
59:
  %60 = add nuw i64 %48, 1
  %61 = icmp eq i64 %60, %5
  br i1 %61, label %20, label %45
62:
  %63 = phi i64 [ 0, %45 ], [ %91, %87 ]
  %64 = phi i32 [ %58, %45 ], [ %88, %87 ]
  %65 = phi i32 [ %47, %45 ], [ %90, %87 ]
  %66 = getelementptr inbounds nuw i32, ptr %53, i64 %63
  %67 = load i32, ptr %66, align 4
  %68 = icmp eq i32 %67, 0
  br i1 %68, label %82, label %69
69:
  %70 = xor i32 %67, -1
  %71 = and i32 %52, %70
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %80, label %73
73:
  %74 = tail call range(i32 1, 33) i32 @llvm.ctpop.i32(i32 %67)
  %75 = add i32 %74, %64
  %76 = freeze i32 %75
  %77 = trunc nuw nsw i64 %63 to i32
  %78 = shl nuw nsw i32 1, %77
  %79 = xor i32 %78, -1
  br label %87
80:
  %81 = add i32 %64, 32
  br label %87
82:
  %83 = trunc nuw nsw i64 %63 to i32
  %84 = shl nuw nsw i32 1, %83
  %85 = xor i32 %84, -1
  %86 = select i1 %57, i32 -1, i32 %85
  br label %87
87:
  %88 = phi i32 [ %76, %73 ], [ %81, %80 ], [ %64, %82 ]
  %89 = phi i32 [ %79, %73 ], [ -1, %80 ], [ %86, %82 ]
  %90 = and i32 %89, %65
  %91 = add nuw nsw i64 %63, 1
  %92 = icmp eq i64 %91, 4
  br i1 %92, label %59, label %62
93:
  %94 = icmp ne i32 %153, 0
  %95 = add i32 %2, -1
  %96 = icmp ult i32 %95, %88
  %97 = or i1 %96, %94
  br i1 %97, label %98, label %239
98:
  %99 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %100 = load i32, ptr @kernel, align 4
  %101 = zext i32 %100 to i64
  %102 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 48), align 4
  %103 = shl i32 %1, 4
  %104 = add i32 %102, %103
  %105 = zext i32 %104 to i64
  %106 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 80), align 4
  %107 = zext i32 %106 to i64
  %108 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 52), align 4
  %109 = shl i32 %1, 2
  %110 = add i32 %108, %109
  %111 = zext i32 %110 to i64
  %112 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 84), align 4
  %113 = icmp eq i32 %112, 0
  %114 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %115 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 76), align 4
  %116 = zext i32 %115 to i64
  %117 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %118 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 64), align 4
  %119 = zext i32 %118 to i64
  %120 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 68), align 4
  %121 = zext i32 %120 to i64
  %122 = insertelement <32 x i32> poison, i32 %161, i64 0
  %123 = shufflevector <32 x i32> %122, <32 x i32> poison, <32 x i32> zeroinitializer
  %124 = insertelement <32 x i32> poison, i32 %156, i64 0
  %125 = shufflevector <32 x i32> %124, <32 x i32> poison, <32 x i32> zeroinitializer
  %126 = zext i32 %112 to i64
  br label %182
127:
  %128 = phi i32 [ 0, %20 ], [ %153, %135 ]
  %129 = phi i32 [ 0, %20 ], [ %161, %135 ]
  %130 = phi i32 [ 0, %20 ], [ %156, %135 ]
  %131 = phi i64 [ 0, %20 ], [ %162, %135 ]
  %132 = load ptr, ptr %22, align 8
  %133 = mul i64 %131, %24
  %134 = getelementptr inbounds nuw i8, ptr %132, i64 %133
  br i1 %26, label %135, label %164
135:
  %136 = phi i32 [ 0, %127 ], [ %174, %164 ]
  %137 = phi i32 [ 0, %127 ], [ %179, %164 ]
  %138 = getelementptr inbounds nuw i8, ptr %134, i64 %29
  %139 = load <32 x i32>, ptr %138, align 4
  %140 = getelementptr inbounds nuw i8, ptr %134, i64 %31
  %141 = load <32 x i32>, ptr %140, align 4
  %142 = icmp eq <32 x i32> %141, %33
  %143 = bitcast <32 x i1> %142 to i32
  %144 = and i32 %136, %143
  %145 = icmp eq <32 x i32> %139, zeroinitializer
  %146 = icmp ule <32 x i32> %139, %35
  %147 = select <32 x i1> %145, <32 x i1> %37, <32 x i1> %146
  %148 = bitcast <32 x i1> %147 to i32
  %149 = and i32 %144, %148
  %150 = getelementptr inbounds nuw i8, ptr %134, i64 %39
  store i32 %149, ptr %150, align 4
  %151 = xor i32 %149, %144
  %152 = getelementptr inbounds nuw i8, ptr %134, i64 %41
  store i32 %151, ptr %152, align 4
  %153 = or i32 %149, %128
  %154 = and i32 %149, %137
  %155 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %154)
  %156 = add i32 %155, %130
  %157 = getelementptr inbounds nuw i8, ptr %134, i64 %43
  %158 = load i32, ptr %157, align 4
  %159 = and i32 %158, %154
  %160 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %159)
  %161 = add i32 %160, %129
  %162 = add nuw i64 %131, 1
  %163 = icmp eq i64 %162, %5
  br i1 %163, label %93, label %127
164:
  %165 = phi i64 [ %180, %164 ], [ 0, %127 ]
  %166 = phi i32 [ %179, %164 ], [ 0, %127 ]
  %167 = phi i32 [ %174, %164 ], [ 0, %127 ]
  %168 = trunc nuw i64 %165 to i32
  %169 = shl i32 %168, 2
  %170 = add i32 %27, %169
  %171 = zext i32 %170 to i64
  %172 = getelementptr inbounds nuw i8, ptr %134, i64 %171
  %173 = load i32, ptr %172, align 4
  %174 = or i32 %173, %167
  %175 = getelementptr inbounds nuw [0 x i32], ptr @at_reduces, i64 0, i64 %165
  %176 = load i32, ptr %175, align 4
  %177 = icmp eq i32 %176, 0
  %178 = select i1 %177, i32 0, i32 %173
  %179 = or i32 %178, %166
  %180 = add nuw nsw i64 %165, 1
  %181 = icmp eq i64 %180, %44
  br i1 %181, label %135, label %164
182:
  %183 = phi i64 [ 0, %98 ], [ %206, %205 ]
  %184 = load ptr, ptr %99, align 8
  %185 = mul i64 %183, %101
  %186 = getelementptr inbounds nuw i8, ptr %184, i64 %185
  %187 = getelementptr inbounds nuw i8, ptr %186, i64 %105
  %188 = getelementptr inbounds nuw i8, ptr %186, i64 %107
  br label %195
189:
  %190 = getelementptr inbounds nuw i8, ptr %186, i64 %111
  store i32 0, ptr %190, align 4
  br i1 %113, label %205, label %191
191:
  %192 = getelementptr inbounds nuw i8, ptr %186, i64 %116
  %193 = getelementptr inbounds nuw i8, ptr %186, i64 %119
  %194 = getelementptr inbounds nuw i8, ptr %186, i64 %121
  br label %208
195:
  %196 = phi i64 [ 0, %182 ], [ %203, %200 ]
  %197 = icmp eq i64 %196, 0
  br i1 %197, label %198, label %200
198:
  %199 = load i32, ptr %188, align 4
  br label %200
200:
  %201 = phi i32 [ %199, %198 ], [ 0, %195 ]
  %202 = getelementptr inbounds nuw i32, ptr %187, i64 %196
  store i32 %201, ptr %202, align 4
  %203 = add nuw nsw i64 %196, 1
  %204 = icmp eq i64 %203, 4
  br i1 %204, label %189, label %195
205:
  %206 = add nuw i64 %183, 1
  %207 = icmp eq i64 %206, %5
  br i1 %207, label %239, label %182
208:
  %209 = phi i64 [ 0, %191 ], [ %237, %236 ]
  %210 = trunc nuw i64 %209 to i32
  %211 = shl i32 %210, 2
  %212 = add i32 %114, %211
  %213 = zext i32 %212 to i64
  %214 = getelementptr inbounds nuw i8, ptr %186, i64 %213
  %215 = load i32, ptr %214, align 4
  %216 = load i32, ptr %192, align 4
  %217 = and i32 %216, %215
  %218 = xor i32 %217, %215
  store i32 %218, ptr %214, align 4
  %219 = getelementptr inbounds nuw [0 x i32], ptr @at_barriers, i64 0, i64 %209
  %220 = load i32, ptr %219, align 4
  %221 = shl i32 %220, 2
  %222 = add i32 %221, %117
  %223 = zext i32 %222 to i64
  %224 = getelementptr inbounds nuw i8, ptr %186, i64 %223
  %225 = load i32, ptr %224, align 4
  %226 = or i32 %225, %217
  store i32 %226, ptr %224, align 4
  %227 = getelementptr inbounds nuw [0 x i32], ptr @at_reduces, i64 0, i64 %209
  %228 = load i32, ptr %227, align 4
  %229 = icmp eq i32 %228, 0
  br i1 %229, label %236, label %230
230:
  %231 = bitcast i32 %217 to <32 x i1>
  %232 = load <32 x i32>, ptr %193, align 4
  %233 = select <32 x i1> %231, <32 x i32> %123, <32 x i32> %232
  store <32 x i32> %233, ptr %193, align 4
  %234 = load <32 x i32>, ptr %194, align 4
  %235 = select <32 x i1> %231, <32 x i32> %125, <32 x i32> %234
  store <32 x i32> %235, ptr %194, align 4
  br label %236
236:
  %237 = add nuw nsw i64 %209, 1
  %238 = icmp eq i64 %237, %126
  br i1 %238, label %205, label %208
239:
  %240 = phi i32 [ %153, %93 ], [ 0, %3 ], [ %153, %205 ]
  ret i32 %240
}

define internal i32 @recheck_barriers(ptr %0) noinline #0 {
  br label %3
2:
  ret i32 %7
3:
  %4 = phi i32 [ 0, %1 ], [ %8, %3 ]
  %5 = phi i32 [ 0, %1 ], [ %7, %3 ]
  %6 = tail call i32 @check_barrier(ptr %0, i32 %4, i32 0)
  %7 = or i32 %6, %5
  %8 = add nuw nsw i32 %4, 1
  %9 = icmp eq i32 %8, 16
  br i1 %9, label %2, label %3
}

define internal range(i64 0, 12884901888) i64 @arrive_at_barriers(ptr %0, ptr %1, i32 %2, i32 %3, i32 %4) noinline #0 {
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %7 = load ptr, ptr %6, align 8
  %8 = load <32 x i32>, ptr %7, align 4
  %9 = getelementptr inbounds nuw i8, ptr %7, i64 512
  %10 = load <32 x i32>, ptr %9, align 4
  %11 = and <32 x i32> %10, splat (i32 31)
  %12 = icmp ugt <32 x i32> %8, splat (i32 15)
  %13 = icmp ne <32 x i32> %11, zeroinitializer
  %14 = or <32 x i1> %12, %13
  %15 = bitcast <32 x i1> %14 to i32
  %16 = and i32 %2, %15
  %17 = icmp eq i32 %16, 0
  br i1 %17, label %18, label %111
18:
  %19 = icmp eq i32 %3, 0
  br i1 %19, label %47, label %20
20:
  %21 = bitcast i32 %2 to <32 x i1>
  %22 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 56), align 4
  %23 = zext i32 %22 to i64
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 %23
  %25 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 60), align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds nuw i8, ptr %1, i64 %26
  %28 = load <32 x i32>, ptr %24, align 4
  %29 = select <32 x i1> %21, <32 x i32> %8, <32 x i32> %28
  store <32 x i32> %29, ptr %24, align 4
  %30 = load <32 x i32>, ptr %27, align 4
  %31 = select <32 x i1> %21, <32 x i32> %10, <32 x i32> %30
  store <32 x i32> %31, ptr %27, align 4
  %32 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 72), align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds nuw i8, ptr %1, i64 %33
  %35 = load i32, ptr %34, align 4
  %36 = xor i32 %2, -1
  %37 = and i32 %35, %36
  %38 = or i32 %37, %4
  store i32 %38, ptr %34, align 4
  %39 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %40 = shl i32 %3, 2
  %41 = add i32 %40, -4
  %42 = add i32 %41, %39
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds nuw i8, ptr %1, i64 %43
  %45 = load i32, ptr %44, align 4
  %46 = or i32 %45, %2
  store i32 %46, ptr %44, align 4
  br label %47
47:
  %48 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 84), align 4
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %53, label %50
50:
  %51 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %52 = zext i32 %48 to i64
  br label %56
53:
  %54 = phi i32 [ 0, %47 ], [ %65, %56 ]
  %55 = icmp eq i32 %2, 0
  br i1 %55, label %70, label %94
56:
  %57 = phi i64 [ 0, %50 ], [ %66, %56 ]
  %58 = phi i32 [ 0, %50 ], [ %65, %56 ]
  %59 = trunc nuw i64 %57 to i32
  %60 = shl i32 %59, 2
  %61 = add i32 %51, %60
  %62 = zext i32 %61 to i64
  %63 = getelementptr inbounds nuw i8, ptr %1, i64 %62
  %64 = load i32, ptr %63, align 4
  %65 = or i32 %64, %58
  %66 = add nuw nsw i64 %57, 1
  %67 = icmp eq i64 %66, %52
  br i1 %67, label %53, label %56
68:
  %69 = shl nuw nsw i64 %108, 32
  br label %70
70:
  %71 = phi i64 [ 0, %53 ], [ %69, %68 ]
  br i1 %49, label %89, label %72
72:
  %73 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %74 = zext i32 %48 to i64
  br label %75
75:
  %76 = phi i64 [ 0, %72 ], [ %85, %75 ]
  %77 = phi i32 [ 0, %72 ], [ %84, %75 ]
  %78 = trunc nuw i64 %76 to i32
  %79 = shl i32 %78, 2
  %80 = add i32 %73, %79
  %81 = zext i32 %80 to i64
  %82 = getelementptr inbounds nuw i8, ptr %1, i64 %81
  %83 = load i32, ptr %82, align 4
  %84 = or i32 %83, %77
  %85 = add nuw nsw i64 %76, 1
  %86 = icmp eq i64 %85, %74
  br i1 %86, label %87, label %75
87:
  %88 = xor i32 %84, -1
  br label %89
89:
  %90 = phi i32 [ -1, %70 ], [ %88, %87 ]
  %91 = and i32 %54, %90
  %92 = zext i32 %91 to i64
  %93 = or disjoint i64 %71, %92
  br label %111
94:
  %95 = phi i64 [ %108, %94 ], [ 0, %53 ]
  %96 = phi i32 [ %109, %94 ], [ %2, %53 ]
  %97 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %96, i1 true)
  %98 = extractelement <32 x i32> %8, i32 %97
  %99 = insertelement <32 x i32> poison, i32 %98, i64 0
  %100 = shufflevector <32 x i32> %99, <32 x i32> poison, <32 x i32> zeroinitializer
  %101 = icmp eq <32 x i32> %8, %100
  %102 = bitcast <32 x i1> %101 to i32
  %103 = and i32 %96, %102
  tail call void @arrive(ptr %1, i32 %98, i32 %103)
  %104 = extractelement <32 x i32> %10, i32 %97
  %105 = select i1 %19, i32 %104, i32 0
  %106 = tail call i32 @check_barrier(ptr %0, i32 %98, i32 %105)
  %107 = icmp eq i32 %106, 0
  %108 = select i1 %107, i64 %95, i64 2
  %109 = xor i32 %103, %96
  %110 = icmp eq i32 %103, %96
  br i1 %110, label %68, label %94
111:
  %112 = phi i64 [ %93, %89 ], [ 4294967296, %5 ]
  ret i64 %112
}

define internal void @wait_for_group(ptr %0, i32 %1, i32 %2, i32 %3, i32 %4, ptr %5) noinline #0 {
  %7 = zext i32 %1 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %9 = load ptr, ptr %8, align 8
  %10 = load i32, ptr @kernel, align 4
  %11 = zext i32 %10 to i64
  %12 = mul nuw i64 %11, %7
  %13 = getelementptr inbounds nuw i8, ptr %9, i64 %12
  %14 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %15 = shl i32 %3, 2
  %16 = add i32 %14, %15
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr %13, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = or i32 %19, %2
  store i32 %20, ptr %18, align 4
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %22 = load i64, ptr %21, align 8
  %23 = trunc i64 %22 to i32
  %24 = add i32 %23, -1
  %25 = and i32 %1, -4
  %26 = load ptr, ptr %8, align 8
  br label %35
27:
  %28 = add nuw nsw i32 %36, 1
  %29 = icmp eq i32 %28, 4
  br i1 %29, label %30, label %35
30:
  %31 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %32 = shl i32 %4, 2
  %33 = add i32 %31, %32
  %34 = zext i32 %33 to i64
  br label %47
35:
  %36 = phi i32 [ 0, %6 ], [ %28, %27 ]
  %37 = or disjoint i32 %36, %25
  %38 = tail call i32 @llvm.umin.i32(i32 %37, i32 %24)
  %39 = zext i32 %38 to i64
  %40 = mul nuw i64 %39, %11
  %41 = getelementptr inbounds nuw i8, ptr %26, i64 %40
  %42 = load i32, ptr %41, align 4
  %43 = getelementptr inbounds nuw i8, ptr %41, i64 %17
  %44 = load i32, ptr %43, align 4
  %45 = icmp eq i32 %42, %44
  br i1 %45, label %27, label %65
46:
  store i32 2, ptr %5, align 4
  br label %65
47:
  %48 = phi i32 [ 0, %30 ], [ %63, %47 ]
  %49 = load i64, ptr %21, align 8
  %50 = trunc i64 %49 to i32
  %51 = add i32 %50, -1
  %52 = or disjoint i32 %48, %25
  %53 = tail call i32 @llvm.umin.i32(i32 %52, i32 %51)
  %54 = zext i32 %53 to i64
  %55 = load ptr, ptr %8, align 8
  %56 = mul nuw i64 %54, %11
  %57 = getelementptr inbounds nuw i8, ptr %55, i64 %56
  %58 = getelementptr inbounds nuw i8, ptr %57, i64 %17
  %59 = load i32, ptr %58, align 4
  %60 = getelementptr inbounds nuw i8, ptr %57, i64 %34
  %61 = load i32, ptr %60, align 4
  %62 = or i32 %61, %59
  store i32 %62, ptr %60, align 4
  store i32 0, ptr %58, align 4
  %63 = add nuw nsw i32 %48, 1
  %64 = icmp eq i32 %63, 4
  br i1 %64, label %46, label %47
65:
  ret void
}

define internal range(i32 0, 2) i32 @is_whole_group(ptr %0, i32 %1, i32 %2) noinline #0 {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %5 = load i64, ptr %4, align 8
  %6 = trunc i64 %5 to i32
  %7 = add i32 %6, -1
  %8 = and i32 %1, -4
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %10 = load ptr, ptr %9, align 8
  %11 = load i32, ptr @kernel, align 4
  %12 = zext i32 %11 to i64
  br label %20
13:
  %14 = icmp eq i32 %29, -1
  %15 = or i32 %1, 3
  %16 = zext i32 %15 to i64
  %17 = icmp ugt i64 %5, %16
  %18 = and i1 %14, %17
  %19 = zext i1 %18 to i32
  ret i32 %19
20:
  %21 = phi i32 [ 0, %3 ], [ %30, %20 ]
  %22 = phi i32 [ %2, %3 ], [ %29, %20 ]
  %23 = or disjoint i32 %21, %8
  %24 = tail call i32 @llvm.umin.i32(i32 %23, i32 %7)
  %25 = zext i32 %24 to i64
  %26 = mul nuw i64 %25, %12
  %27 = getelementptr inbounds nuw i8, ptr %10, i64 %26
  %28 = load i32, ptr %27, align 4
  %29 = and i32 %28, %22
  %30 = add nuw nsw i32 %21, 1
  %31 = icmp eq i32 %30, 4
  br i1 %31, label %13, label %20
}

define internal void @leave_group(ptr %0, i32 %1, ptr %2) noinline #0 {
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 100), align 4
  %5 = icmp eq i32 %4, 0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %7 = and i32 %1, -4
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %9 = load i32, ptr @kernel, align 4
  %10 = zext i32 %9 to i64
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %12 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %13 = zext i32 %4 to i64
  br label %14
14:
  %15 = phi i32 [ 0, %3 ], [ %20, %19 ]
  br i1 %5, label %19, label %16
16:
  %17 = or disjoint i32 %15, %7
  br label %22
18:
  store i32 2, ptr %2, align 4
  ret void
19:
  %20 = add nuw nsw i32 %15, 1
  %21 = icmp eq i32 %20, 4
  br i1 %21, label %18, label %14
22:
  %23 = phi i64 [ 0, %16 ], [ %44, %22 ]
  %24 = load i64, ptr %6, align 8
  %25 = trunc i64 %24 to i32
  %26 = add i32 %25, -1
  %27 = tail call i32 @llvm.umin.i32(i32 %17, i32 %26)
  %28 = zext i32 %27 to i64
  %29 = load ptr, ptr %8, align 8
  %30 = mul nuw i64 %28, %10
  %31 = getelementptr inbounds nuw i8, ptr %29, i64 %30
  %32 = getelementptr inbounds nuw [0 x i32], ptr @at_groups, i64 0, i64 %23
  %33 = load i32, ptr %32, align 4
  %34 = shl i32 %33, 2
  %35 = add i32 %11, %34
  %36 = zext i32 %35 to i64
  %37 = getelementptr inbounds nuw i8, ptr %31, i64 %36
  %38 = load i32, ptr %37, align 4
  %39 = add i32 %12, %34
  %40 = zext i32 %39 to i64
  %41 = getelementptr inbounds nuw i8, ptr %31, i64 %40
  %42 = load i32, ptr %41, align 4
  %43 = or i32 %42, %38
  store i32 %43, ptr %41, align 4
  store i32 0, ptr %37, align 4
  %44 = add nuw nsw i64 %23, 1
  %45 = icmp eq i64 %44, %13
  br i1 %45, label %19, label %22
}

define internal void @check_members(ptr %0, ptr %1, i32 %2) noinline #0 {
  %4 = load i32, ptr %1, align 4
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %6 = load ptr, ptr %5, align 8
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = icmp eq i32 %2, 0
  br i1 %8, label %27, label %9
9:
  %10 = phi i32 [ %21, %9 ], [ 0, %3 ]
  %11 = phi i32 [ %23, %9 ], [ %2, %3 ]
  %12 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %11, i1 true)
  %13 = extractelement <32 x i32> %7, i32 %12
  %14 = insertelement <32 x i32> poison, i32 %13, i64 0
  %15 = shufflevector <32 x i32> %14, <32 x i32> poison, <32 x i32> zeroinitializer
  %16 = icmp eq <32 x i32> %7, %15
  %17 = bitcast <32 x i1> %16 to i32
  %18 = and i32 %2, %17
  %19 = and i32 %13, %4
  %20 = xor i32 %18, %19
  %21 = or i32 %20, %10
  %22 = xor i32 %18, -1
  %23 = and i32 %11, %22
  %24 = icmp eq i32 %23, 0
  br i1 %24, label %25, label %9
25:
  %26 = zext i32 %21 to i64
  br label %27
27:
  %28 = phi i64 [ 0, %3 ], [ %26, %25 ]
  %29 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %30 = load i64, ptr %29, align 8
  %31 = or i64 %30, %28
  store i64 %31, ptr %29, align 8
  %32 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %33 = load i32, ptr %32, align 4
  %34 = xor i32 %4, -1
  %35 = and i32 %33, %34
  %36 = zext i32 %35 to i64
  %37 = or i64 %31, %36
  store i64 %37, ptr %29, align 8
  ret void
}

define internal i32 @release_warp(ptr %0, ptr %1) noinline #0 {
  %3 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 36), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 %4
  %6 = load <32 x i32>, ptr %5, align 4
  %7 = load i32, ptr %1, align 4
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 92), align 4
  %9 = icmp eq i32 %8, 0
  br i1 %9, label %13, label %10
10:
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
  %12 = zext i32 %8 to i64
  br label %27
13:
  %14 = phi i32 [ 0, %2 ], [ %36, %27 ]
  %15 = xor i32 %14, -1
  %16 = and i32 %7, %15
  %17 = insertelement <32 x i32> poison, i32 %16, i64 0
  %18 = shufflevector <32 x i32> %17, <32 x i32> poison, <32 x i32> zeroinitializer
  %19 = and <32 x i32> %18, %6
  %20 = icmp eq <32 x i32> %19, zeroinitializer
  %21 = bitcast <32 x i1> %20 to i32
  %22 = and i32 %14, %21
  %23 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %24 = icmp ne i32 %23, 0
  %25 = icmp ne i32 %22, 0
  %26 = select i1 %24, i1 %25, i1 false
  br i1 %26, label %39, label %65
27:
  %28 = phi i64 [ 0, %10 ], [ %37, %27 ]
  %29 = phi i32 [ 0, %10 ], [ %36, %27 ]
  %30 = trunc nuw i64 %28 to i32
  %31 = shl i32 %30, 2
  %32 = add i32 %11, %31
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds nuw i8, ptr %1, i64 %33
  %35 = load i32, ptr %34, align 4
  %36 = or i32 %35, %29
  %37 = add nuw nsw i64 %28, 1
  %38 = icmp eq i64 %37, %12
  br i1 %38, label %13, label %27
39:
  %40 = phi i32 [ %51, %39 ], [ 0, %13 ]
  %41 = phi i32 [ %53, %39 ], [ %22, %13 ]
  %42 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %41, i1 true)
  %43 = extractelement <32 x i32> %6, i32 %42
  %44 = insertelement <32 x i32> poison, i32 %43, i64 0
  %45 = shufflevector <32 x i32> %44, <32 x i32> poison, <32 x i32> zeroinitializer
  %46 = icmp eq <32 x i32> %6, %45
  %47 = bitcast <32 x i1> %46 to i32
  %48 = and i32 %22, %47
  %49 = and i32 %43, %7
  %50 = xor i32 %48, %49
  %51 = or i32 %50, %40
  %52 = xor i32 %48, -1
  %53 = and i32 %41, %52
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %55, label %39
55:
  %56 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %57 = load i32, ptr %56, align 4
  %58 = xor i32 %7, -1
  %59 = and i32 %57, %58
  %60 = or i32 %59, %51
  %61 = zext i32 %60 to i64
  %62 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %63 = load i64, ptr %62, align 8
  %64 = or i64 %63, %61
  store i64 %64, ptr %62, align 8
  br label %65
65:
  br i1 %9, label %70, label %66
66:
  %67 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
  %68 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %69 = zext i32 %8 to i64
  br label %71
70:
  ret i32 %22
71:
  %72 = phi i64 [ 0, %66 ], [ %89, %71 ]
  %73 = trunc nuw i64 %72 to i32
  %74 = shl i32 %73, 2
  %75 = add i32 %67, %74
  %76 = zext i32 %75 to i64
  %77 = getelementptr inbounds nuw i8, ptr %1, i64 %76
  %78 = load i32, ptr %77, align 4
  %79 = and i32 %78, %22
  %80 = xor i32 %79, %78
  store i32 %80, ptr %77, align 4
  %81 = getelementptr inbounds nuw [0 x i32], ptr @at_warp_barriers, i64 0, i64 %72
  %82 = load i32, ptr %81, align 4
  %83 = shl i32 %82, 2
  %84 = add i32 %83, %68
  %85 = zext i32 %84 to i64
  %86 = getelementptr inbounds nuw i8, ptr %1, i64 %85
  %87 = load i32, ptr %86, align 4
  %88 = or i32 %87, %79
  store i32 %88, ptr %86, align 4
  %89 = add nuw nsw i64 %72, 1
  %90 = icmp eq i64 %89, %69
  br i1 %90, label %70, label %71
}

define internal i32 @wait_for_warp(ptr %0, ptr %1, i32 %2, i32 %3) noinline #0 {
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 36), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %1, i64 %6
  %8 = bitcast i32 %2 to <32 x i1>
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load ptr, ptr %9, align 8
  %11 = load <32 x i32>, ptr %10, align 4
  %12 = load <32 x i32>, ptr %7, align 4
  %13 = select <32 x i1> %8, <32 x i32> %11, <32 x i32> %12
  store <32 x i32> %13, ptr %7, align 4
  %14 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
  %15 = shl i32 %3, 2
  %16 = add i32 %14, %15
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = or i32 %19, %2
  store i32 %20, ptr %18, align 4
  %21 = tail call i32 @release_warp(ptr %0, ptr %1)
  ret i32 %21
}

define internal void @reduce_add(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> zeroinitializer
  %26 = tail call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_and(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> splat (i32 -1)
  %26 = tail call i32 @llvm.vector.reduce.and.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_or(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> zeroinitializer
  %26 = tail call i32 @llvm.vector.reduce.or.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_xor(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> zeroinitializer
  %26 = tail call i32 @llvm.vector.reduce.xor.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_umin(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> splat (i32 -1)
  %26 = tail call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_umax(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> zeroinitializer
  %26 = tail call i32 @llvm.vector.reduce.umax.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_smin(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> splat (i32 2147483647)
  %26 = tail call i32 @llvm.vector.reduce.smin.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal void @reduce_smax(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i32>, ptr %4, align 4
  %6 = getelementptr inbounds nuw i8, ptr %4, i64 512
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = getelementptr inbounds nuw i8, ptr %4, i64 1024
  %9 = icmp eq i32 %1, 0
  br i1 %9, label %13, label %10
10:
  %11 = load <32 x i32>, ptr %8, align 4
  br label %14
12:
  store <32 x i32> %29, ptr %8, align 4
  br label %13
13:
  ret void
14:
  %15 = phi <32 x i32> [ %11, %10 ], [ %29, %14 ]
  %16 = phi i32 [ %1, %10 ], [ %31, %14 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %16, i1 true)
  %18 = extractelement <32 x i32> %7, i32 %17
  %19 = insertelement <32 x i32> poison, i32 %18, i64 0
  %20 = shufflevector <32 x i32> %19, <32 x i32> poison, <32 x i32> zeroinitializer
  %21 = icmp eq <32 x i32> %7, %20
  %22 = bitcast <32 x i1> %21 to i32
  %23 = and i32 %1, %22
  %24 = bitcast i32 %23 to <32 x i1>
  %25 = select <32 x i1> %24, <32 x i32> %5, <32 x i32> splat (i32 -2147483648)
  %26 = tail call i32 @llvm.vector.reduce.smax.v32i32(<32 x i32> %25)
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %24, <32 x i32> %28, <32 x i32> %15
  %30 = xor i32 %23, -1
  %31 = and i32 %16, %30
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %12, label %14
}

define internal range(i32 0, 2) i32 @change_objects(ptr %0, ptr %1, i32 %2, i32 %3) noinline #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %6, i64 512
  %8 = getelementptr inbounds nuw i8, ptr %6, i64 1024
  %9 = getelementptr inbounds nuw i8, ptr %6, i64 1536
  %10 = icmp eq i32 %2, 0
  br i1 %10, label %74, label %11
11:
  %12 = icmp eq i32 %3, 0
  br label %13
13:
  %14 = phi i32 [ %2, %11 ], [ %72, %52 ]
  %15 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %14, i1 true)
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr inbounds nuw i64, ptr %6, i64 %16
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds nuw i8, ptr %1, i64 %18
  %20 = load i64, ptr %19, align 1
  %21 = getelementptr inbounds nuw i64, ptr %9, i64 %16
  store i64 %20, ptr %21, align 8
  %22 = getelementptr inbounds nuw i64, ptr %7, i64 %16
  %23 = load i64, ptr %22, align 8
  %24 = getelementptr inbounds nuw i64, ptr %8, i64 %16
  %25 = load i64, ptr %24, align 8
  %26 = load i64, ptr %19, align 1
  %27 = and i64 %26, 1048575
  %28 = lshr i64 %26, 20
  %29 = and i64 %28, 1048575
  %30 = icmp ugt i64 %23, %29
  br i1 %30, label %34, label %31
31:
  br i1 %12, label %52, label %32
32:
  %33 = icmp samesign ugt i64 %23, %27
  br i1 %33, label %34, label %52
34:
  %35 = shl nsw i32 -1, %15
  %36 = xor i32 %35, -1
  %37 = and i32 %2, %36
  %38 = icmp eq i32 %37, 0
  br i1 %38, label %74, label %39
39:
  %40 = phi i32 [ %50, %39 ], [ %37, %34 ]
  %41 = tail call range(i32 0, 33) i32 @llvm.ctlz.i32(i32 %40, i1 true)
  %42 = xor i32 %41, 31
  %43 = zext nneg i32 %42 to i64
  %44 = getelementptr inbounds nuw i64, ptr %9, i64 %43
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds nuw i64, ptr %6, i64 %43
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds nuw i8, ptr %1, i64 %47
  store i64 %45, ptr %48, align 1
  %49 = shl nuw nsw i32 1, %42
  %50 = xor i32 %49, %40
  %51 = icmp eq i32 %49, %40
  br i1 %51, label %74, label %39
52:
  %53 = phi i64 [ %23, %32 ], [ 0, %31 ]
  %54 = sub nsw i64 %27, %53
  %55 = sub nsw i64 %29, %23
  %56 = lshr i64 %26, 40
  %57 = add i64 %56, %25
  %58 = and i64 %57, 8388607
  %59 = icmp eq i64 %29, %23
  %60 = icmp eq i64 %58, 2097152
  %61 = and i1 %59, %60
  %62 = select i1 %61, i64 %54, i64 %55
  %63 = shl nsw i64 %62, 20
  %64 = shl nuw nsw i64 %58, 40
  %65 = select i1 %61, i64 -9223372036854775808, i64 0
  %66 = and i64 %26, -9223372036854775808
  %67 = xor i64 %65, %66
  %68 = or disjoint i64 %67, %64
  %69 = or i64 %68, %63
  %70 = or i64 %69, %54
  store i64 %70, ptr %19, align 1
  %71 = add i32 %14, -1
  %72 = and i32 %71, %14
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %74, label %13
74:
  %75 = phi i32 [ 0, %34 ], [ 1, %4 ], [ 0, %39 ], [ 1, %52 ]
  ret i32 %75
}

define internal void @record_test(ptr %0, i32 %1, i32 %2, i32 %3, i32 %4) noinline #0 {
  %6 = zext i32 %2 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %8 = load i64, ptr %7, align 8
  %9 = mul i64 %8, %6
  %10 = zext i32 %1 to i64
  %11 = add i64 %9, %10
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %13 = load ptr, ptr %12, align 8
  %14 = mul i64 %11, 264
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 %14
  store i32 %3, ptr %15, align 4
  %16 = getelementptr inbounds nuw i8, ptr %15, i64 4
  store i32 %4, ptr %16, align 4
  %17 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %19 = load ptr, ptr %18, align 8
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 dereferenceable(256) %17, ptr nonnull align 1 dereferenceable(256) %19, i64 256, i1 false)
  ret void
}

define internal range(i32 0, 2) i32 @copy_bulk(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, i32 %5, i32 %6, i64 %7) noinline #0 {
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %10, i64 512
  %12 = getelementptr inbounds nuw i8, ptr %10, i64 1024
  %13 = getelementptr inbounds nuw i8, ptr %10, i64 1536
  %14 = getelementptr inbounds nuw i8, ptr %10, i64 2048
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %16 = load i64, ptr %15, align 8
  %17 = icmp eq i32 %5, 0
  br i1 %17, label %127, label %18
18:
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %20 = load i64, ptr %19, align 8
  %21 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %22 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %23 = icmp eq i32 %6, 0
  %24 = sub i64 %7, %20
  br label %25
25:
  %26 = phi i32 [ %5, %18 ], [ %65, %63 ]
  %27 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %26, i1 true)
  %28 = zext nneg i32 %27 to i64
  %29 = getelementptr inbounds nuw i64, ptr %12, i64 %28
  %30 = load i64, ptr %29, align 8
  %31 = and i64 %30, -16
  store i64 %31, ptr %29, align 8
  %32 = add i64 %31, -16
  %33 = icmp eq i64 %31, 0
  br i1 %33, label %46, label %34
34:
  %35 = getelementptr inbounds nuw i64, ptr %10, i64 %28
  %36 = load i64, ptr %35, align 8
  %37 = add i64 %36, %32
  %38 = load i64, ptr %21, align 8
  %39 = icmp ult i64 %37, %38
  br i1 %39, label %40, label %127
40:
  %41 = getelementptr inbounds nuw i64, ptr %11, i64 %28
  %42 = load i64, ptr %41, align 8
  %43 = add i64 %42, %32
  %44 = load i64, ptr %22, align 8
  %45 = icmp ult i64 %43, %44
  br i1 %45, label %46, label %127
46:
  br i1 %23, label %63, label %47
47:
  %48 = getelementptr inbounds nuw i64, ptr %14, i64 %28
  %49 = load i64, ptr %48, align 8
  %50 = and i64 %49, -4278190081
  %51 = add i64 %24, %50
  store i64 %51, ptr %48, align 8
  %52 = getelementptr inbounds nuw i64, ptr %13, i64 %28
  %53 = load i64, ptr %52, align 8
  %54 = icmp ult i64 %53, 16777216
  %55 = and i64 %51, 7
  %56 = icmp eq i64 %55, 0
  %57 = select i1 %54, i1 %56, i1 false
  br i1 %57, label %58, label %127
58:
  %59 = icmp ugt i64 %51, %16
  %60 = sub nuw i64 %16, %51
  %61 = icmp ult i64 %60, 8
  %62 = select i1 %59, i1 true, i1 %61
  br i1 %62, label %127, label %63
63:
  %64 = add i32 %26, -1
  %65 = and i32 %64, %26
  %66 = icmp eq i32 %65, 0
  br i1 %66, label %67, label %25
67:
  %68 = getelementptr inbounds nuw i8, ptr %2, i64 32
  %69 = load ptr, ptr %68, align 8
  %70 = icmp eq ptr %69, null
  br label %71
71:
  %72 = phi i32 [ %5, %67 ], [ %93, %91 ]
  %73 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %72, i1 true)
  %74 = zext nneg i32 %73 to i64
  %75 = getelementptr inbounds nuw i64, ptr %10, i64 %74
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr inbounds nuw i8, ptr %1, i64 %76
  %78 = getelementptr inbounds nuw i64, ptr %11, i64 %74
  %79 = load i64, ptr %78, align 8
  %80 = getelementptr inbounds nuw i8, ptr %3, i64 %79
  %81 = getelementptr inbounds nuw i64, ptr %12, i64 %74
  %82 = load i64, ptr %81, align 8
  tail call void @llvm.memmove.p0.p0.i64(ptr align 1 %77, ptr align 1 %80, i64 %82, i1 false)
  br i1 %70, label %91, label %87
83:
  %84 = icmp eq i32 %6, 0
  br i1 %84, label %127, label %85
85:
  %86 = getelementptr inbounds nuw i8, ptr %0, i64 80
  br label %95
87:
  %88 = load i64, ptr %75, align 8
  %89 = getelementptr inbounds nuw i8, ptr %69, i64 %88
  %90 = load i64, ptr %81, align 8
  tail call void @llvm.memset.p0.i64(ptr nonnull align 1 %89, i8 0, i64 %90, i1 false)
  br label %91
91:
  %92 = add i32 %72, -1
  %93 = and i32 %92, %72
  %94 = icmp eq i32 %93, 0
  br i1 %94, label %83, label %71
95:
  %96 = phi i32 [ %5, %85 ], [ %125, %95 ]
  %97 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %96, i1 true)
  %98 = load ptr, ptr %86, align 8
  %99 = zext nneg i32 %97 to i64
  %100 = getelementptr inbounds nuw i64, ptr %14, i64 %99
  %101 = load i64, ptr %100, align 8
  %102 = getelementptr inbounds nuw i8, ptr %98, i64 %101
  %103 = getelementptr inbounds nuw i64, ptr %12, i64 %99
  %104 = load i64, ptr %103, align 8
  %105 = load i64, ptr %102, align 1
  %106 = and i64 %105, 1048575
  %107 = lshr i64 %105, 20
  %108 = and i64 %107, 1048575
  %109 = lshr i64 %105, 40
  %110 = sub i64 %109, %104
  %111 = and i64 %110, 8388607
  %112 = icmp eq i64 %108, 0
  %113 = icmp eq i64 %111, 2097152
  %114 = and i1 %112, %113
  %115 = select i1 %114, i64 %106, i64 %108
  %116 = shl nuw nsw i64 %115, 20
  %117 = shl nuw nsw i64 %111, 40
  %118 = or disjoint i64 %116, %117
  %119 = select i1 %114, i64 -9223372036854775808, i64 0
  %120 = and i64 %105, -9223372036854775808
  %121 = xor i64 %119, %120
  %122 = or disjoint i64 %118, %121
  %123 = or disjoint i64 %122, %106
  store i64 %123, ptr %102, align 1
  %124 = add i32 %96, -1
  %125 = and i32 %124, %96
  %126 = icmp eq i32 %125, 0
  br i1 %126, label %127, label %95
127:
  %128 = phi i32 [ 1, %83 ], [ 1, %8 ], [ 1, %95 ], [ 0, %34 ], [ 0, %40 ], [ 0, %47 ], [ 0, %58 ]
  ret i32 %128
}

define internal range(i32 0, 2) i32 @load_box(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6, i32 %7, i64 %8, i32 %9) noinline #0 {
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %12 = load i64, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %14 = load i64, ptr %13, align 8
  %15 = icmp eq i32 %7, 0
  br i1 %15, label %23, label %16
16:
  %17 = icmp eq i64 %8, 0
  br i1 %17, label %154, label %18
18:
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %20 = load i64, ptr %19, align 8
  %21 = lshr i64 %8, %20
  %22 = icmp eq i64 %21, 0
  br i1 %22, label %25, label %154
23:
  %24 = icmp ugt i64 %3, 16777215
  br i1 %24, label %154, label %25
25:
  %26 = and i64 %3, -4278190081
  %27 = add i64 %26, %4
  %28 = sub i64 %27, %12
  %29 = and i64 %5, -4278190081
  %30 = add i64 %29, %6
  %31 = sub i64 %30, %12
  %32 = and i64 %31, 7
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %34, label %154
34:
  %35 = icmp ugt i64 %31, %14
  %36 = sub nuw i64 %14, %31
  %37 = icmp ult i64 %36, 8
  %38 = select i1 %35, i1 true, i1 %37
  br i1 %38, label %154, label %39
39:
  %40 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %41 = load ptr, ptr %40, align 8
  %42 = getelementptr inbounds nuw i8, ptr %1, i64 192
  %43 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %44 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %45 = load i64, ptr %44, align 8
  %46 = icmp eq i64 %2, %45
  br i1 %46, label %47, label %154
47:
  %48 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %49 = load ptr, ptr %48, align 8
  %50 = load <16 x i64>, ptr %49, align 1
  %51 = load <16 x i64>, ptr %1, align 1
  %52 = xor <16 x i64> %51, %50
  %53 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %52)
  %54 = icmp eq i64 %53, 0
  br i1 %54, label %55, label %154
55:
  %56 = phi i64 [ %68, %63 ], [ 0, %47 ]
  %57 = phi i64 [ %67, %63 ], [ 0, %47 ]
  %58 = getelementptr inbounds nuw i64, ptr %41, i64 %56
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds nuw i64, ptr %42, i64 %56
  %61 = load i64, ptr %60, align 8
  %62 = icmp ugt i64 %59, %61
  br i1 %62, label %154, label %63
63:
  %64 = getelementptr inbounds nuw i64, ptr %43, i64 %56
  %65 = load i64, ptr %64, align 8
  %66 = mul i64 %65, %59
  %67 = add i64 %66, %57
  %68 = add nuw nsw i64 %56, 1
  %69 = icmp eq i64 %68, 5
  br i1 %69, label %70, label %55
70:
  %71 = load i64, ptr %41, align 8
  %72 = load i64, ptr %43, align 8
  %73 = mul i64 %72, %71
  %74 = and i64 %73, 15
  %75 = and i64 %28, 127
  %76 = or i64 %74, %75
  %77 = icmp eq i64 %76, 0
  br i1 %77, label %78, label %154
78:
  %79 = getelementptr inbounds nuw i8, ptr %1, i64 176
  %80 = load i64, ptr %79, align 8
  %81 = icmp ugt i64 %28, %14
  %82 = sub nuw i64 %14, %28
  %83 = icmp ugt i64 %80, %82
  %84 = select i1 %81, i1 true, i1 %83
  br i1 %84, label %154, label %85
85:
  %86 = zext i32 %9 to i64
  %87 = shl nuw i64 1, %86
  %88 = select i1 %15, i64 %87, i64 %8
  %89 = icmp eq i64 %88, 0
  br i1 %89, label %154, label %90
90:
  %91 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %92 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %93 = getelementptr inbounds nuw i8, ptr %1, i64 160
  %94 = getelementptr inbounds nuw i8, ptr %1, i64 168
  %95 = getelementptr inbounds nuw i8, ptr %1, i64 144
  %96 = getelementptr inbounds nuw i8, ptr %1, i64 184
  br label %97
97:
  %98 = phi i64 [ %88, %90 ], [ %152, %129 ]
  %99 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %98, i1 true)
  %100 = sub nsw i64 %99, %86
  %101 = load i64, ptr %91, align 8
  %102 = mul i64 %101, %100
  %103 = load ptr, ptr %92, align 8
  %104 = getelementptr inbounds nuw i8, ptr %103, i64 %102
  %105 = load i64, ptr %93, align 8
  %106 = load ptr, ptr %94, align 8
  %107 = load ptr, ptr %95, align 8
  %108 = getelementptr inbounds nuw i8, ptr %107, i64 %67
  %109 = icmp eq i64 %105, 0
  br i1 %109, label %129, label %110
110:
  %111 = getelementptr i64, ptr %106, i64 %105
  br label %112
112:
  %113 = phi i64 [ 0, %110 ], [ %127, %112 ]
  %114 = getelementptr inbounds nuw i64, ptr %106, i64 %113
  %115 = load i64, ptr %114, align 8
  %116 = getelementptr i64, ptr %111, i64 %113
  %117 = load i64, ptr %116, align 8
  %118 = add i64 %117, %28
  %119 = lshr i64 %118, 7
  %120 = load i64, ptr %96, align 8
  %121 = and i64 %119, %120
  %122 = shl nuw nsw i64 %121, 4
  %123 = xor i64 %122, %118
  %124 = getelementptr inbounds nuw i8, ptr %108, i64 %115
  %125 = load <16 x i8>, ptr %124, align 1
  %126 = getelementptr inbounds nuw i8, ptr %104, i64 %123
  store <16 x i8> %125, ptr %126, align 1
  %127 = add nuw i64 %113, 1
  %128 = icmp eq i64 %127, %105
  br i1 %128, label %129, label %112
129:
  %130 = getelementptr inbounds nuw i8, ptr %104, i64 %31
  %131 = load i64, ptr %130, align 1
  %132 = and i64 %131, 1048575
  %133 = lshr i64 %131, 20
  %134 = and i64 %133, 1048575
  %135 = lshr i64 %131, 40
  %136 = shl i64 %105, 4
  %137 = sub i64 %135, %136
  %138 = and i64 %137, 8388607
  %139 = icmp eq i64 %134, 0
  %140 = icmp eq i64 %138, 2097152
  %141 = and i1 %139, %140
  %142 = select i1 %141, i64 %132, i64 %134
  %143 = shl nuw nsw i64 %142, 20
  %144 = shl nuw nsw i64 %138, 40
  %145 = or disjoint i64 %143, %144
  %146 = select i1 %141, i64 -9223372036854775808, i64 0
  %147 = and i64 %131, -9223372036854775808
  %148 = xor i64 %146, %147
  %149 = or disjoint i64 %145, %148
  %150 = or disjoint i64 %149, %132
  store i64 %150, ptr %130, align 1
  %151 = add i64 %98, -1
  %152 = and i64 %151, %98
  %153 = icmp eq i64 %152, 0
  br i1 %153, label %154, label %97
154:
  %155 = phi i32 [ 0, %23 ], [ 0, %18 ], [ 0, %16 ], [ 0, %25 ], [ 0, %34 ], [ 0, %39 ], [ 0, %47 ], [ 0, %70 ], [ 0, %78 ], [ 1, %85 ], [ 1, %129 ], [ 0, %55 ]
  ret i32 %155
}

define internal range(i32 0, 2) i32 @store_box(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4) noinline #0 {
  %6 = add i64 %4, %3
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %8 = load i64, ptr %7, align 8
  %9 = sub i64 %6, %8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds nuw i8, ptr %1, i64 192
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %15 = load i64, ptr %14, align 8
  %16 = icmp eq i64 %2, %15
  br i1 %16, label %17, label %95
17:
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %19 = load ptr, ptr %18, align 8
  %20 = load <16 x i64>, ptr %19, align 1
  %21 = load <16 x i64>, ptr %1, align 1
  %22 = xor <16 x i64> %21, %20
  %23 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %22)
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %25, label %95
25:
  %26 = phi i64 [ %38, %33 ], [ 0, %17 ]
  %27 = phi i64 [ %37, %33 ], [ 0, %17 ]
  %28 = getelementptr inbounds nuw i64, ptr %11, i64 %26
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds nuw i64, ptr %12, i64 %26
  %31 = load i64, ptr %30, align 8
  %32 = icmp ugt i64 %29, %31
  br i1 %32, label %95, label %33
33:
  %34 = getelementptr inbounds nuw i64, ptr %13, i64 %26
  %35 = load i64, ptr %34, align 8
  %36 = mul i64 %35, %29
  %37 = add i64 %36, %27
  %38 = add nuw nsw i64 %26, 1
  %39 = icmp eq i64 %38, 5
  br i1 %39, label %40, label %25
40:
  %41 = load i64, ptr %11, align 8
  %42 = load i64, ptr %13, align 8
  %43 = mul i64 %42, %41
  %44 = and i64 %43, 15
  %45 = and i64 %9, 127
  %46 = or i64 %44, %45
  %47 = icmp eq i64 %46, 0
  br i1 %47, label %48, label %95
48:
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds nuw i8, ptr %1, i64 176
  %52 = load i64, ptr %51, align 8
  %53 = icmp ugt i64 %9, %50
  %54 = sub nuw i64 %50, %9
  %55 = icmp ugt i64 %52, %54
  %56 = select i1 %53, i1 true, i1 %55
  br i1 %56, label %95, label %57
57:
  %58 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %59 = load ptr, ptr %58, align 8
  %60 = getelementptr inbounds nuw i8, ptr %1, i64 160
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr inbounds nuw i8, ptr %1, i64 168
  %63 = load ptr, ptr %62, align 8
  %64 = getelementptr inbounds nuw i8, ptr %1, i64 144
  %65 = load ptr, ptr %64, align 8
  %66 = getelementptr inbounds nuw i8, ptr %65, i64 %37
  %67 = icmp eq i64 %61, 0
  br i1 %67, label %95, label %68
68:
  %69 = getelementptr inbounds nuw i8, ptr %1, i64 152
  %70 = load ptr, ptr %69, align 8
  %71 = getelementptr i64, ptr %63, i64 %61
  %72 = getelementptr inbounds nuw i8, ptr %1, i64 184
  %73 = icmp eq ptr %70, null
  %74 = getelementptr inbounds nuw i8, ptr %70, i64 %37
  br label %75
75:
  %76 = phi i64 [ 0, %68 ], [ %93, %92 ]
  %77 = getelementptr inbounds nuw i64, ptr %63, i64 %76
  %78 = load i64, ptr %77, align 8
  %79 = getelementptr i64, ptr %71, i64 %76
  %80 = load i64, ptr %79, align 8
  %81 = add i64 %80, %9
  %82 = lshr i64 %81, 7
  %83 = load i64, ptr %72, align 8
  %84 = and i64 %82, %83
  %85 = shl nuw nsw i64 %84, 4
  %86 = xor i64 %85, %81
  %87 = getelementptr inbounds nuw i8, ptr %59, i64 %86
  %88 = load <16 x i8>, ptr %87, align 1
  %89 = getelementptr inbounds nuw i8, ptr %66, i64 %78
  store <16 x i8> %88, ptr %89, align 1
  br i1 %73, label %92, label %90
90:
  %91 = getelementptr inbounds nuw i8, ptr %74, i64 %78
  store <16 x i8> zeroinitializer, ptr %91, align 1
  br label %92
92:
  %93 = add nuw i64 %76, 1
  %94 = icmp eq i64 %93, %61
  br i1 %94, label %95, label %75
95:
  %96 = phi i32 [ 0, %5 ], [ 0, %17 ], [ 0, %40 ], [ 0, %48 ], [ 1, %57 ], [ 1, %92 ], [ 0, %25 ]
  ret i32 %96
}

define internal range(i32 0, 2) i32 @are_equal(ptr %0, i64 %1) noinline #0 {
  %3 = shl i64 %1, 5
  %4 = icmp ult i64 %1, %3
  br i1 %4, label %10, label %8
5:
  %6 = icmp eq i32 %20, 0
  %7 = zext i1 %6 to i32
  br label %8
8:
  %9 = phi i32 [ 1, %2 ], [ %7, %5 ]
  ret i32 %9
10:
  %11 = phi i64 [ %21, %10 ], [ %1, %2 ]
  %12 = phi i32 [ %20, %10 ], [ 0, %2 ]
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 %11
  %14 = load i8, ptr %13, align 1
  %15 = sub nuw i64 %11, %1
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 %15
  %17 = load i8, ptr %16, align 1
  %18 = xor i8 %17, %14
  %19 = sext i8 %18 to i32
  %20 = or i32 %12, %19
  %21 = add nuw i64 %11, 1
  %22 = icmp eq i64 %21, %3
  br i1 %22, label %5, label %10
}

define internal range(i32 0, 2) i32 @read_left(ptr %0, i32 %1, i32 %2, i32 %3, ptr %4) noinline #0 {
  %6 = shl i32 %2, 4
  %7 = and i32 %6, 48
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load ptr, ptr %9, align 8
  %11 = shl i32 %1, 9
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %10, i64 %12
  %14 = tail call i32 @are_equal(ptr %13, i64 8)
  %15 = icmp eq i32 %14, 0
  br i1 %15, label %170, label %16
16:
  %17 = load i64, ptr %13, align 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %21 = load i64, ptr %20, align 8
  %22 = shl i64 %17, 4
  %23 = and i64 %22, 262128
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %25 = load i64, ptr %24, align 8
  %26 = sub i64 %23, %25
  %27 = lshr i64 %17, 12
  %28 = and i64 %27, 262128
  %29 = lshr i64 %17, 28
  %30 = and i64 %29, 262128
  %31 = lshr i64 %17, 49
  %32 = lshr i64 %17, 62
  %33 = sub nsw i64 0, %32
  %34 = and i64 %33, 3
  %35 = icmp eq i32 %3, 0
  br i1 %35, label %36, label %89
36:
  %37 = or disjoint i64 %34, 4
  %38 = trunc nuw nsw i64 %34 to i32
  %39 = shl nsw i32 -1, %38
  %40 = xor i32 %39, -1
  %41 = zext nneg i32 %40 to i64
  %42 = icmp eq ptr %19, null
  %43 = or disjoint i64 %8, 15
  br label %44
44:
  %45 = phi ptr [ %4, %36 ], [ %87, %85 ]
  %46 = phi i64 [ %8, %36 ], [ %86, %85 ]
  %47 = and i64 %46, 7
  %48 = shl nuw nsw i64 %47, %37
  %49 = lshr i64 %46, 3
  %50 = mul i64 %49, %30
  %51 = add i64 %50, %26
  %52 = add i64 %51, %48
  br label %53
53:
  %54 = phi i1 [ true, %44 ], [ false, %84 ]
  %55 = phi i64 [ 0, %44 ], [ 1, %84 ]
  %56 = lshr i64 %55, %34
  %57 = mul nuw nsw i64 %56, %28
  %58 = and i64 %55, %41
  %59 = shl nuw nsw i64 %58, 4
  %60 = add i64 %52, %57
  %61 = add i64 %60, %59
  %62 = lshr i64 %61, 7
  %63 = sub nsw i64 %62, %31
  %64 = and i64 %63, %41
  %65 = shl nuw nsw i64 %64, 4
  %66 = xor i64 %65, %61
  %67 = icmp ugt i64 %66, %21
  %68 = sub nuw i64 %21, %66
  %69 = icmp ult i64 %68, 16
  %70 = select i1 %67, i1 true, i1 %69
  br i1 %70, label %170, label %71
71:
  %72 = getelementptr inbounds nuw i8, ptr %19, i64 %66
  br i1 %42, label %170, label %73
73:
  %74 = shl nuw nsw i64 %55, 8
  %75 = getelementptr inbounds nuw i8, ptr %45, i64 %74
  br label %76
76:
  %77 = phi i64 [ 0, %73 ], [ %82, %76 ]
  %78 = getelementptr inbounds nuw i32, ptr %72, i64 %77
  %79 = load i32, ptr %78, align 1
  %80 = shl nuw nsw i64 %77, 6
  %81 = getelementptr inbounds nuw i8, ptr %75, i64 %80
  store i32 %79, ptr %81, align 4
  %82 = add nuw nsw i64 %77, 1
  %83 = icmp eq i64 %82, 4
  br i1 %83, label %84, label %76
84:
  br i1 %54, label %53, label %85
85:
  %86 = add nuw nsw i64 %46, 1
  %87 = getelementptr inbounds nuw i8, ptr %45, i64 4
  %88 = icmp eq i64 %46, %43
  br i1 %88, label %170, label %44
89:
  %90 = shl nuw nsw i64 16, %34
  %91 = icmp eq i64 %34, 0
  %92 = select i1 %91, i64 %30, i64 %28
  %93 = select i1 %91, i64 %28, i64 %30
  %94 = lshr exact i64 %8, 3
  %95 = add nuw nsw i64 %8, 16
  %96 = lshr exact i64 %95, 3
  %97 = trunc nuw nsw i64 %34 to i32
  %98 = shl nsw i32 -1, %97
  %99 = xor i32 %98, -1
  %100 = zext nneg i32 %99 to i64
  %101 = or disjoint i64 %34, 4
  %102 = add i64 %26, %90
  %103 = icmp ne ptr %19, null
  br label %104
104:
  %105 = phi ptr [ %4, %89 ], [ %167, %166 ]
  %106 = phi i64 [ %94, %89 ], [ %168, %166 ]
  %107 = and i64 %106, %100
  %108 = shl nuw nsw i64 %107, 4
  %109 = lshr i64 %106, %34
  %110 = mul i64 %109, %92
  %111 = add i64 %108, %110
  br label %112
112:
  %113 = phi i64 [ 0, %104 ], [ %164, %163 ]
  %114 = and i64 %113, 6
  %115 = shl nuw nsw i64 %114, %101
  %116 = add i64 %111, %115
  %117 = lshr i64 %113, 3
  %118 = mul nuw nsw i64 %117, %93
  %119 = add i64 %116, %118
  %120 = add i64 %119, %26
  %121 = lshr i64 %120, 7
  %122 = sub nsw i64 %121, %31
  %123 = and i64 %122, %100
  %124 = shl nuw nsw i64 %123, 4
  %125 = xor i64 %124, %120
  %126 = icmp ugt i64 %125, %21
  %127 = sub nuw i64 %21, %125
  %128 = icmp ult i64 %127, 16
  %129 = select i1 %126, i1 true, i1 %128
  %130 = getelementptr inbounds nuw i8, ptr %19, i64 %125
  %131 = select i1 %129, ptr null, ptr %130
  %132 = add i64 %102, %119
  %133 = lshr i64 %132, 7
  %134 = sub nsw i64 %133, %31
  %135 = and i64 %134, %100
  %136 = shl nuw nsw i64 %135, 4
  %137 = xor i64 %136, %132
  %138 = icmp ugt i64 %137, %21
  %139 = sub nuw i64 %21, %137
  %140 = icmp ult i64 %139, 16
  %141 = select i1 %138, i1 true, i1 %140
  br i1 %141, label %170, label %142
142:
  %143 = getelementptr inbounds nuw i8, ptr %19, i64 %137
  %144 = icmp ne ptr %131, null
  %145 = select i1 %144, i1 %103, i1 false
  br i1 %145, label %146, label %170
146:
  %147 = shl nuw nsw i64 %113, 5
  %148 = getelementptr i8, ptr %105, i64 %147
  br label %149
149:
  %150 = phi i64 [ 0, %146 ], [ %161, %149 ]
  %151 = load <8 x i16>, ptr %143, align 1
  %152 = trunc nuw nsw i64 %150 to i32
  %153 = extractelement <8 x i16> %151, i32 %152
  %154 = zext i16 %153 to i32
  %155 = shl nuw i32 %154, 16
  %156 = load <8 x i16>, ptr %131, align 1
  %157 = extractelement <8 x i16> %156, i32 %152
  %158 = zext i16 %157 to i32
  %159 = or disjoint i32 %155, %158
  %160 = getelementptr i32, ptr %148, i64 %150
  store i32 %159, ptr %160, align 4
  %161 = add nuw nsw i64 %150, 1
  %162 = icmp eq i64 %161, 8
  br i1 %162, label %163, label %149
163:
  %164 = add nuw nsw i64 %113, 2
  %165 = icmp samesign ult i64 %113, 14
  br i1 %165, label %112, label %166
166:
  %167 = getelementptr inbounds nuw i8, ptr %105, i64 32
  %168 = add nuw nsw i64 %106, 1
  %169 = icmp eq i64 %168, %96
  br i1 %169, label %170, label %104
170:
  %171 = phi i32 [ 0, %5 ], [ 0, %53 ], [ 0, %71 ], [ 1, %85 ], [ 0, %112 ], [ 0, %142 ], [ 1, %166 ]
  ret i32 %171
}

define internal range(i32 0, 2) i32 @read_right(ptr %0, i32 %1, i64 %2, i64 %3, i32 %4, ptr %5) noinline #0 {
  %7 = shl i64 %3, 2
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %9 = load ptr, ptr %8, align 8
  %10 = shl i32 %1, 9
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %9, i64 %11
  %13 = tail call i32 @are_equal(ptr %12, i64 8)
  %14 = icmp eq i32 %13, 0
  br i1 %14, label %176, label %15
15:
  %16 = load i64, ptr %12, align 8
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %18 = load ptr, ptr %17, align 8
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %20 = load i64, ptr %19, align 8
  %21 = shl i64 %16, 4
  %22 = and i64 %21, 262128
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %24 = load i64, ptr %23, align 8
  %25 = sub i64 %22, %24
  %26 = lshr i64 %16, 12
  %27 = and i64 %26, 262128
  %28 = lshr i64 %16, 28
  %29 = and i64 %28, 262128
  %30 = lshr i64 %16, 49
  %31 = lshr i64 %16, 62
  %32 = sub nsw i64 0, %31
  %33 = and i64 %32, 3
  %34 = shl nuw nsw i64 16, %33
  %35 = icmp eq i32 %4, 0
  br i1 %35, label %36, label %92
36:
  %37 = icmp eq i64 %2, 0
  br i1 %37, label %176, label %38
38:
  %39 = or disjoint i64 %33, 4
  %40 = icmp eq i64 %3, 0
  %41 = trunc nuw nsw i64 %33 to i32
  %42 = shl nsw i32 -1, %41
  %43 = xor i32 %42, -1
  %44 = zext nneg i32 %43 to i64
  %45 = icmp eq ptr %18, null
  br label %46
46:
  %47 = phi ptr [ %5, %38 ], [ %90, %88 ]
  %48 = phi i64 [ 0, %38 ], [ %89, %88 ]
  br i1 %40, label %88, label %49
49:
  %50 = lshr i64 %48, 3
  %51 = mul i64 %50, %29
  %52 = and i64 %48, 7
  %53 = shl nuw nsw i64 %52, %39
  %54 = add i64 %51, %25
  %55 = add i64 %54, %53
  br label %56
56:
  %57 = phi i64 [ 0, %49 ], [ %86, %85 ]
  %58 = lshr i64 %57, %33
  %59 = mul i64 %58, %27
  %60 = and i64 %57, %44
  %61 = shl nuw nsw i64 %60, 4
  %62 = add i64 %55, %59
  %63 = add i64 %62, %61
  %64 = lshr i64 %63, 7
  %65 = sub nsw i64 %64, %30
  %66 = and i64 %65, %44
  %67 = shl nuw nsw i64 %66, 4
  %68 = xor i64 %67, %63
  %69 = icmp ugt i64 %68, %20
  %70 = sub nuw i64 %20, %68
  %71 = icmp ult i64 %70, 16
  %72 = select i1 %69, i1 true, i1 %71
  br i1 %72, label %176, label %73
73:
  %74 = getelementptr inbounds nuw i8, ptr %18, i64 %68
  br i1 %45, label %176, label %75
75:
  %76 = shl i64 %57, 4
  %77 = getelementptr i8, ptr %47, i64 %76
  br label %78
78:
  %79 = phi i64 [ 0, %75 ], [ %83, %78 ]
  %80 = getelementptr inbounds nuw i32, ptr %74, i64 %79
  %81 = load i32, ptr %80, align 1
  %82 = getelementptr i32, ptr %77, i64 %79
  store i32 %81, ptr %82, align 4
  %83 = add nuw nsw i64 %79, 1
  %84 = icmp eq i64 %83, 4
  br i1 %84, label %85, label %78
85:
  %86 = add nuw i64 %57, 1
  %87 = icmp eq i64 %86, %3
  br i1 %87, label %88, label %56
88:
  %89 = add nuw i64 %48, 1
  %90 = getelementptr inbounds nuw i32, ptr %47, i64 %7
  %91 = icmp eq i64 %89, %2
  br i1 %91, label %176, label %46
92:
  %93 = icmp eq i64 %33, 0
  %94 = select i1 %93, i64 %29, i64 %27
  %95 = select i1 %93, i64 %27, i64 %29
  %96 = lshr i64 %2, 3
  %97 = icmp ult i64 %2, 8
  br i1 %97, label %176, label %98
98:
  %99 = trunc nuw nsw i64 %33 to i32
  %100 = shl nsw i32 -1, %99
  %101 = xor i32 %100, -1
  %102 = zext nneg i32 %101 to i64
  %103 = shl i64 %3, 3
  %104 = icmp eq i64 %103, 0
  %105 = or disjoint i64 %33, 4
  %106 = add i64 %25, %34
  %107 = icmp ne ptr %18, null
  %108 = shl i64 %3, 7
  br label %109
109:
  %110 = phi ptr [ %5, %98 ], [ %173, %172 ]
  %111 = phi i64 [ 0, %98 ], [ %174, %172 ]
  %112 = and i64 %111, %102
  %113 = shl nuw nsw i64 %112, 4
  %114 = lshr i64 %111, %33
  %115 = mul i64 %114, %94
  %116 = add i64 %113, %115
  br i1 %104, label %172, label %117
117:
  %118 = phi i64 [ %170, %169 ], [ 0, %109 ]
  %119 = and i64 %118, 6
  %120 = shl nuw nsw i64 %119, %105
  %121 = add i64 %116, %120
  %122 = lshr i64 %118, 3
  %123 = mul i64 %122, %95
  %124 = add i64 %121, %123
  %125 = add i64 %124, %25
  %126 = lshr i64 %125, 7
  %127 = sub nsw i64 %126, %30
  %128 = and i64 %127, %102
  %129 = shl nuw nsw i64 %128, 4
  %130 = xor i64 %129, %125
  %131 = icmp ugt i64 %130, %20
  %132 = sub nuw i64 %20, %130
  %133 = icmp ult i64 %132, 16
  %134 = select i1 %131, i1 true, i1 %133
  %135 = getelementptr inbounds nuw i8, ptr %18, i64 %130
  %136 = select i1 %134, ptr null, ptr %135
  %137 = add i64 %106, %124
  %138 = lshr i64 %137, 7
  %139 = sub nsw i64 %138, %30
  %140 = and i64 %139, %102
  %141 = shl nuw nsw i64 %140, 4
  %142 = xor i64 %141, %137
  %143 = icmp ugt i64 %142, %20
  %144 = sub nuw i64 %20, %142
  %145 = icmp ult i64 %144, 16
  %146 = select i1 %143, i1 true, i1 %145
  br i1 %146, label %176, label %147
147:
  %148 = getelementptr inbounds nuw i8, ptr %18, i64 %142
  %149 = icmp ne ptr %136, null
  %150 = select i1 %149, i1 %107, i1 false
  br i1 %150, label %151, label %176
151:
  %152 = lshr exact i64 %118, 1
  %153 = getelementptr i32, ptr %110, i64 %152
  br label %154
154:
  %155 = phi i64 [ 0, %151 ], [ %167, %154 ]
  %156 = load <8 x i16>, ptr %148, align 1
  %157 = trunc nuw nsw i64 %155 to i32
  %158 = extractelement <8 x i16> %156, i32 %157
  %159 = zext i16 %158 to i32
  %160 = shl nuw i32 %159, 16
  %161 = load <8 x i16>, ptr %136, align 1
  %162 = extractelement <8 x i16> %161, i32 %157
  %163 = zext i16 %162 to i32
  %164 = or disjoint i32 %160, %163
  %165 = mul i64 %7, %155
  %166 = getelementptr i32, ptr %153, i64 %165
  store i32 %164, ptr %166, align 4
  %167 = add nuw nsw i64 %155, 1
  %168 = icmp eq i64 %167, 8
  br i1 %168, label %169, label %154
169:
  %170 = add nuw i64 %118, 2
  %171 = icmp ult i64 %170, %103
  br i1 %171, label %117, label %172
172:
  %173 = getelementptr inbounds nuw i8, ptr %110, i64 %108
  %174 = add nuw nsw i64 %111, 1
  %175 = icmp eq i64 %174, %96
  br i1 %175, label %176, label %109
176:
  %177 = phi i32 [ 0, %6 ], [ 1, %36 ], [ 1, %92 ], [ 0, %56 ], [ 0, %73 ], [ 1, %88 ], [ 0, %117 ], [ 0, %147 ], [ 1, %172 ]
  ret i32 %177
}

define internal range(i32 0, 5) i32 @run_block(ptr %0) #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %3 = load i64, ptr %2, align 8
  %4 = icmp eq i64 %3, 0
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %6 = load i32, ptr @kernel, align 4
  %7 = zext i32 %6 to i64
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 104), align 4
  %9 = icmp ne i32 %8, 0
  %10 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 164
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %15 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 12), align 4
  %16 = icmp eq i32 %15, 0
  %17 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 84), align 4
  %18 = icmp eq i32 %17, 0
  %19 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %20 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %21 = icmp eq i32 %20, 0
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %23 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %24 = icmp eq i32 %23, 0
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %27 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %28 = zext i32 %8 to i64
  %29 = zext i32 %17 to i64
  %30 = zext i32 %17 to i64
  br i1 %4, label %191, label %31
31:
  %32 = phi i64 [ %102, %101 ], [ 0, %1 ]
  %33 = phi i32 [ %103, %101 ], [ 0, %1 ]
  %34 = phi i32 [ %104, %101 ], [ 0, %1 ]
  %35 = phi i32 [ %105, %101 ], [ 0, %1 ]
  %36 = load ptr, ptr %5, align 8
  %37 = mul nuw i64 %32, %7
  %38 = getelementptr inbounds nuw i8, ptr %36, i64 %37
  %39 = load i32, ptr %38, align 4
  %40 = icmp eq i32 %39, 0
  br i1 %40, label %95, label %41
41:
  %42 = tail call i32 @step(ptr nonnull %0, i32 %35)
  %43 = icmp ne i32 %42, 1
  %44 = select i1 %43, i1 %9, i1 false
  br i1 %44, label %45, label %89
45:
  %46 = load ptr, ptr %5, align 8
  %47 = getelementptr inbounds nuw i8, ptr %46, i64 %37
  %48 = getelementptr inbounds nuw i8, ptr %47, i64 28
  %49 = load i32, ptr %48, align 4
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %91, label %51
51:
  store i32 0, ptr %48, align 4
  br label %52
52:
  %53 = phi i64 [ 0, %51 ], [ %84, %83 ]
  %54 = icmp eq i64 %53, 0
  br i1 %54, label %83, label %55
55:
  %56 = getelementptr inbounds nuw [0 x i32], ptr @at_meetings, i64 0, i64 %53
  %57 = load i32, ptr %56, align 4
  %58 = icmp eq i32 %57, 0
  %59 = trunc nuw i64 %53 to i32
  %60 = shl i32 %59, 2
  %61 = add i32 %10, %60
  %62 = zext i32 %61 to i64
  %63 = getelementptr inbounds nuw i8, ptr %47, i64 %62
  br i1 %58, label %83, label %64
64:
  %65 = phi i64 [ %81, %80 ], [ 0, %55 ]
  %66 = getelementptr inbounds nuw [0 x i32], ptr @at_meetings, i64 0, i64 %65
  %67 = load i32, ptr %66, align 4
  %68 = icmp eq i32 %67, %57
  br i1 %68, label %69, label %80
69:
  %70 = load i32, ptr %63, align 4
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %80, label %72
72:
  %73 = trunc nuw i64 %65 to i32
  %74 = shl i32 %73, 2
  %75 = add i32 %10, %74
  %76 = zext i32 %75 to i64
  %77 = getelementptr inbounds nuw i8, ptr %47, i64 %76
  %78 = load i32, ptr %77, align 4
  %79 = icmp eq i32 %78, 0
  br i1 %79, label %80, label %86
80:
  %81 = add nuw nsw i64 %65, 1
  %82 = icmp eq i64 %81, %53
  br i1 %82, label %83, label %64
83:
  %84 = add nuw nsw i64 %53, 1
  %85 = icmp eq i64 %84, %28
  br i1 %85, label %89, label %52
86:
  store i32 -2, ptr %11, align 4
  store i32 %35, ptr %12, align 4
  store i32 0, ptr %13, align 4
  %87 = load ptr, ptr %14, align 8
  %88 = tail call i32 %87(ptr %0)
  switch i32 %88, label %89 [
    i32 1, label %41
    i32 2, label %191
  ]
89:
  %90 = icmp eq i32 %42, 1
  br i1 %90, label %191, label %91
91:
  %92 = load i32, ptr %38, align 4
  %93 = or i32 %92, %33
  %94 = or i32 %42, %34
  br label %95
95:
  %96 = phi i32 [ %94, %91 ], [ %34, %31 ]
  %97 = phi i32 [ %93, %91 ], [ %33, %31 ]
  %98 = add i32 %35, 1
  %99 = zext i32 %98 to i64
  %100 = icmp ugt i64 %3, %99
  br i1 %100, label %101, label %106
101:
  %102 = phi i64 [ %99, %95 ], [ 0, %166 ], [ 0, %112 ]
  %103 = phi i32 [ %97, %95 ], [ 0, %166 ], [ 0, %112 ]
  %104 = phi i32 [ %96, %95 ], [ 0, %166 ], [ 0, %112 ]
  %105 = phi i32 [ %98, %95 ], [ 0, %166 ], [ 0, %112 ]
  br label %31
106:
  %107 = icmp eq i32 %97, 0
  %108 = icmp ne i32 %96, 0
  br i1 %107, label %191, label %109
109:
  br i1 %16, label %110, label %112
110:
  %111 = select i1 %108, i1 true, i1 %18
  br i1 %111, label %189, label %116
112:
  %113 = tail call i32 @recheck_barriers(ptr %0)
  %114 = icmp eq i32 %113, 0
  %115 = select i1 %108, i1 true, i1 %114
  br i1 %115, label %187, label %101
116:
  %117 = load ptr, ptr %5, align 8
  br label %121
118:
  %119 = add nuw i64 %122, 1
  %120 = icmp eq i64 %119, %3
  br i1 %120, label %140, label %121
121:
  %122 = phi i64 [ 0, %116 ], [ %119, %118 ]
  %123 = mul i64 %122, %7
  %124 = getelementptr inbounds nuw i8, ptr %117, i64 %123
  br label %128
125:
  %126 = load i32, ptr %124, align 4
  %127 = icmp eq i32 %137, %126
  br i1 %127, label %118, label %191
128:
  %129 = phi i64 [ 0, %121 ], [ %138, %128 ]
  %130 = phi i32 [ 0, %121 ], [ %137, %128 ]
  %131 = trunc nuw i64 %129 to i32
  %132 = shl i32 %131, 2
  %133 = add i32 %19, %132
  %134 = zext i32 %133 to i64
  %135 = getelementptr inbounds nuw i8, ptr %124, i64 %134
  %136 = load i32, ptr %135, align 4
  %137 = or i32 %136, %130
  %138 = add nuw nsw i64 %129, 1
  %139 = icmp eq i64 %138, %29
  br i1 %139, label %125, label %128
140:
  br i1 %21, label %147, label %141
141:
  %142 = load i64, ptr %22, align 8
  %143 = and i64 %142, 140735340871680
  %144 = icmp eq i64 %143, 140735340871680
  br i1 %144, label %147, label %145
145:
  %146 = add i64 %142, 2147483648
  store i64 %146, ptr %22, align 8
  br label %147
147:
  br label %148
148:
  %149 = phi i64 [ %167, %166 ], [ 0, %147 ]
  %150 = load ptr, ptr %5, align 8
  %151 = mul i64 %149, %7
  %152 = getelementptr inbounds nuw i8, ptr %150, i64 %151
  br i1 %24, label %162, label %153
153:
  %154 = getelementptr inbounds nuw i8, ptr %152, i64 24
  %155 = load i32, ptr %154, align 4
  %156 = load i32, ptr %152, align 4
  %157 = xor i32 %156, -1
  %158 = and i32 %155, %157
  %159 = zext i32 %158 to i64
  %160 = load i64, ptr %25, align 8
  %161 = or i64 %160, %159
  store i64 %161, ptr %25, align 8
  store i64 0, ptr %26, align 8
  br label %162
162:
  br i1 %21, label %165, label %163
163:
  %164 = getelementptr inbounds nuw i8, ptr %152, i64 20
  store i32 0, ptr %164, align 4
  br label %165
165:
  br label %169
166:
  %167 = add nuw i64 %149, 1
  %168 = icmp eq i64 %167, %3
  br i1 %168, label %101, label %148
169:
  %170 = phi i64 [ %185, %169 ], [ 0, %165 ]
  %171 = trunc nuw i64 %170 to i32
  %172 = shl i32 %171, 2
  %173 = add i32 %19, %172
  %174 = zext i32 %173 to i64
  %175 = getelementptr inbounds nuw i8, ptr %152, i64 %174
  %176 = load i32, ptr %175, align 4
  %177 = getelementptr inbounds nuw [0 x i32], ptr @at_barriers, i64 0, i64 %170
  %178 = load i32, ptr %177, align 4
  %179 = shl i32 %178, 2
  %180 = add i32 %179, %27
  %181 = zext i32 %180 to i64
  %182 = getelementptr inbounds nuw i8, ptr %152, i64 %181
  %183 = load i32, ptr %182, align 4
  %184 = or i32 %183, %176
  store i32 %184, ptr %182, align 4
  store i32 0, ptr %175, align 4
  %185 = add nuw nsw i64 %170, 1
  %186 = icmp eq i64 %185, %30
  br i1 %186, label %166, label %169
187:
  %188 = select i1 %108, i32 2, i32 4
  br label %191
189:
  %190 = select i1 %108, i32 2, i32 4
  br label %191
191:
  %192 = phi i32 [ %188, %187 ], [ %190, %189 ], [ 0, %1 ], [ 4, %125 ], [ 1, %86 ], [ 0, %106 ], [ 1, %89 ]
  ret i32 %192
}

define internal range(i32 0, 8) i32 @run_cluster(ptr %0) #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %3 = load i64, ptr %2, align 8
  %4 = icmp eq i64 %3, 0
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 96), align 4
  %6 = icmp eq i32 %5, 0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %9 = load i32, ptr @kernel, align 4
  %10 = zext i32 %9 to i64
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 40), align 4
  %12 = zext i32 %11 to i64
  %13 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 44), align 4
  %14 = zext i32 %13 to i64
  %15 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 32), align 4
  %16 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %17 = tail call i32 @llvm.umax.i32(i32 %5, i32 1)
  %18 = zext i32 %17 to i64
  br label %19
19:
  br i1 %4, label %31, label %20
20:
  %21 = phi i32 [ %28, %27 ], [ 0, %19 ]
  %22 = phi i64 [ %29, %27 ], [ 0, %19 ]
  %23 = mul i64 %22, 320
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 %23
  %25 = tail call i32 @run_block(ptr %24)
  %26 = icmp eq i32 %25, 1
  br i1 %26, label %105, label %27
27:
  %28 = or i32 %25, %21
  %29 = add nuw i64 %22, 1
  %30 = icmp eq i64 %29, %3
  br i1 %30, label %31, label %20
31:
  %32 = phi i32 [ 0, %19 ], [ %28, %27 ]
  br i1 %6, label %99, label %33
33:
  %34 = load i64, ptr %7, align 8
  %35 = mul i64 %34, %3
  %36 = icmp eq i64 %35, 0
  br i1 %36, label %95, label %37
37:
  %38 = load ptr, ptr %8, align 8
  br label %43
39:
  %40 = tail call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> %52)
  %41 = insertelement <32 x i32> poison, i32 %40, i64 0
  %42 = shufflevector <32 x i32> %41, <32 x i32> poison, <32 x i32> zeroinitializer
  br label %55
43:
  %44 = phi <32 x i32> [ splat (i32 -1), %37 ], [ %52, %43 ]
  %45 = phi i64 [ 0, %37 ], [ %53, %43 ]
  %46 = mul i64 %45, %10
  %47 = getelementptr inbounds nuw i8, ptr %38, i64 %46
  %48 = getelementptr inbounds nuw i8, ptr %47, i64 %12
  %49 = load <32 x i32>, ptr %48, align 4
  %50 = load <32 x i1>, ptr %47, align 4
  %51 = tail call <32 x i32> @llvm.umin.v32i32(<32 x i32> %44, <32 x i32> %49)
  %52 = select <32 x i1> %50, <32 x i32> %51, <32 x i32> %44
  %53 = add nuw i64 %45, 1
  %54 = icmp eq i64 %53, %35
  br i1 %54, label %39, label %43
55:
  %56 = phi i32 [ %87, %65 ], [ 0, %39 ]
  %57 = phi i64 [ %66, %65 ], [ 0, %39 ]
  %58 = load ptr, ptr %8, align 8
  %59 = mul i64 %57, %10
  %60 = getelementptr inbounds nuw i8, ptr %58, i64 %59
  %61 = getelementptr inbounds nuw i8, ptr %60, i64 %14
  %62 = load <32 x i32>, ptr %61, align 4
  %63 = icmp ule <32 x i32> %62, %42
  %64 = bitcast <32 x i1> %63 to i32
  br label %68
65:
  %66 = add nuw i64 %57, 1
  %67 = icmp eq i64 %66, %35
  br i1 %67, label %90, label %55
68:
  %69 = phi i64 [ 0, %55 ], [ %88, %68 ]
  %70 = phi i32 [ %56, %55 ], [ %87, %68 ]
  %71 = trunc nuw i64 %69 to i32
  %72 = shl i32 %71, 2
  %73 = add i32 %15, %72
  %74 = zext i32 %73 to i64
  %75 = getelementptr inbounds nuw i8, ptr %60, i64 %74
  %76 = load i32, ptr %75, align 4
  %77 = and i32 %76, %64
  %78 = xor i32 %77, %76
  store i32 %78, ptr %75, align 4
  %79 = getelementptr inbounds nuw [0 x i32], ptr @at_cluster_barriers, i64 0, i64 %69
  %80 = load i32, ptr %79, align 4
  %81 = shl i32 %80, 2
  %82 = add i32 %81, %16
  %83 = zext i32 %82 to i64
  %84 = getelementptr inbounds nuw i8, ptr %60, i64 %83
  %85 = load i32, ptr %84, align 4
  %86 = or i32 %85, %77
  store i32 %86, ptr %84, align 4
  %87 = or i32 %77, %70
  %88 = add nuw nsw i64 %69, 1
  %89 = icmp eq i64 %88, %18
  br i1 %89, label %65, label %68
90:
  %91 = icmp eq i32 %87, 0
  %92 = and i32 %32, 2
  %93 = icmp ne i32 %92, 0
  %94 = select i1 %93, i1 true, i1 %91
  br i1 %94, label %103, label %19
95:
  %96 = and i32 %32, 2
  %97 = icmp eq i32 %96, 0
  %98 = select i1 %97, i32 %32, i32 2
  br label %105
99:
  %100 = and i32 %32, 2
  %101 = icmp eq i32 %100, 0
  %102 = select i1 %101, i32 %32, i32 2
  br label %105
103:
  %104 = select i1 %93, i32 2, i32 %32
  br label %105
105:
  %106 = phi i32 [ %102, %99 ], [ %98, %95 ], [ %104, %103 ], [ 1, %20 ]
  ret i32 %106
}

define range(i32 0, 2) i32 @run(ptr %0, i64 %1, i64 %2, ptr %3, i64 %4) #0 {
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %7 = load i64, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %9 = load i64, ptr %8, align 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 136
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 164
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %17 = icmp eq i64 %9, 0
  %18 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %19 = icmp eq i32 %18, 0
  %20 = load i32, ptr @kernel, align 4
  %21 = zext i32 %20 to i64
  %22 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 4), align 4
  %23 = zext i32 %22 to i64
  %24 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %25 = zext i32 %24 to i64
  br label %26
26:
  %27 = phi i64 [ %55, %53 ], [ 0, %5 ]
  %28 = phi i64 [ %56, %53 ], [ 0, %5 ]
  %29 = phi i64 [ %54, %53 ], [ 0, %5 ]
  %30 = icmp ult i64 %29, %2
  %31 = icmp eq i64 %27, 0
  br label %32
32:
  %33 = phi i64 [ 0, %26 ], [ %166, %165 ]
  %34 = phi i64 [ %28, %26 ], [ %152, %165 ]
  %35 = icmp ult i64 %33, 64
  %36 = select i1 %12, i1 %35, i1 false
  br i1 %36, label %40, label %37
37:
  %38 = mul i64 %34, %9
  %39 = icmp ult i64 %38, %7
  br label %40
40:
  %41 = phi i1 [ false, %32 ], [ %39, %37 ]
  %42 = icmp eq i64 %34, 0
  %43 = select i1 %42, i1 true, i1 %41
  %44 = select i1 %30, i1 %43, i1 false
  br i1 %44, label %45, label %127
45:
  %46 = phi i64 [ %51, %45 ], [ 0, %40 ]
  %47 = mul i64 %46, 320
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 %47
  %49 = load i64, ptr %48, align 8
  %50 = icmp eq i64 %49, 0
  %51 = add i64 %46, %9
  br i1 %50, label %52, label %45
52:
  br i1 %17, label %53, label %57
53:
  %54 = phi i64 [ %29, %52 ], [ %125, %123 ]
  %55 = tail call i64 @llvm.umax.i64(i64 %51, i64 %27)
  %56 = add i64 %34, 1
  br label %26
57:
  %58 = phi i64 [ %125, %123 ], [ %29, %52 ]
  %59 = phi i64 [ %124, %123 ], [ 0, %52 ]
  %60 = add i64 %59, %46
  %61 = mul i64 %60, 320
  %62 = getelementptr inbounds nuw i8, ptr %0, i64 %61
  %63 = add i64 %58, %1
  %64 = mul i64 %58, %4
  %65 = getelementptr inbounds nuw i8, ptr %3, i64 %64
  %66 = getelementptr inbounds nuw i8, ptr %62, i64 64
  store i64 %63, ptr %66, align 8
  %67 = getelementptr inbounds nuw i8, ptr %62, i64 24
  store ptr %65, ptr %67, align 8
  store i64 1, ptr %62, align 8
  %68 = getelementptr inbounds nuw i8, ptr %62, i64 168
  store i32 0, ptr %68, align 4
  %69 = getelementptr inbounds nuw i8, ptr %62, i64 80
  %70 = load ptr, ptr %69, align 8
  %71 = getelementptr inbounds nuw i8, ptr %62, i64 88
  %72 = load i64, ptr %71, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %70, i8 -1, i64 %72, i1 false)
  %73 = load ptr, ptr %69, align 8
  %74 = getelementptr inbounds nuw i8, ptr %62, i64 312
  %75 = load i64, ptr %74, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %73, i8 0, i64 %75, i1 false)
  %76 = getelementptr inbounds nuw i8, ptr %62, i64 264
  %77 = load ptr, ptr %76, align 8
  %78 = getelementptr inbounds nuw i8, ptr %62, i64 272
  %79 = load i64, ptr %78, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %77, i8 -1, i64 %79, i1 false)
  %80 = getelementptr inbounds nuw i8, ptr %62, i64 296
  %81 = load ptr, ptr %80, align 8
  %82 = getelementptr inbounds nuw i8, ptr %62, i64 304
  %83 = load i64, ptr %82, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %81, i8 0, i64 %83, i1 false)
  br i1 %19, label %100, label %84
84:
  %85 = shl i64 %63, 47
  %86 = add i64 %85, 140737488355328
  %87 = getelementptr inbounds nuw i8, ptr %62, i64 200
  store i64 %86, ptr %87, align 8
  %88 = getelementptr inbounds nuw i8, ptr %62, i64 216
  %89 = load ptr, ptr %88, align 8
  %90 = getelementptr inbounds nuw i8, ptr %62, i64 224
  %91 = load i64, ptr %90, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %89, i8 0, i64 %91, i1 false)
  %92 = getelementptr inbounds nuw i8, ptr %62, i64 232
  %93 = load ptr, ptr %92, align 8
  %94 = getelementptr inbounds nuw i8, ptr %62, i64 240
  %95 = load i64, ptr %94, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %93, i8 1, i64 %95, i1 false)
  %96 = getelementptr inbounds nuw i8, ptr %62, i64 248
  %97 = load ptr, ptr %96, align 8
  %98 = getelementptr inbounds nuw i8, ptr %62, i64 256
  %99 = load i64, ptr %98, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %97, i8 1, i64 %99, i1 false)
  br label %100
100:
  %101 = getelementptr inbounds nuw i8, ptr %62, i64 112
  %102 = load i64, ptr %101, align 8
  %103 = getelementptr inbounds nuw i8, ptr %62, i64 104
  %104 = load i64, ptr %103, align 8
  %105 = icmp eq i64 %104, 0
  br i1 %105, label %123, label %106
106:
  %107 = getelementptr inbounds nuw i8, ptr %62, i64 48
  br label %108
108:
  %109 = phi i64 [ 0, %106 ], [ %121, %108 ]
  %110 = load ptr, ptr %107, align 8
  %111 = mul i64 %109, %21
  %112 = getelementptr inbounds nuw i8, ptr %110, i64 %111
  %113 = shl i64 %109, 5
  %114 = sub i64 %102, %113
  tail call void @llvm.memset.p0.i64(ptr align 1 %112, i8 0, i64 %23, i1 false)
  %115 = icmp ugt i64 %114, 31
  %116 = trunc i64 %114 to i32
  %117 = shl nsw i32 -1, %116
  %118 = xor i32 %117, -1
  %119 = select i1 %115, i32 -1, i32 %118
  %120 = getelementptr inbounds nuw i8, ptr %112, i64 %25
  store i32 %119, ptr %120, align 4
  store i32 %119, ptr %112, align 4
  %121 = add nuw i64 %109, 1
  %122 = icmp eq i64 %121, %104
  br i1 %122, label %123, label %108
123:
  %124 = add nuw i64 %59, 1
  %125 = add i64 %58, 1
  %126 = icmp eq i64 %124, %9
  br i1 %126, label %53, label %57
127:
  br i1 %42, label %167, label %128
128:
  br i1 %31, label %151, label %129
129:
  %130 = phi i64 [ %148, %147 ], [ %34, %128 ]
  %131 = phi i64 [ %149, %147 ], [ 0, %128 ]
  %132 = mul i64 %131, 320
  %133 = getelementptr inbounds nuw i8, ptr %0, i64 %132
  %134 = load i64, ptr %133, align 8
  %135 = icmp eq i64 %134, 0
  br i1 %135, label %147, label %136
136:
  %137 = tail call i32 @run_cluster(ptr nonnull %133)
  switch i32 %137, label %140 [
    i32 1, label %167
    i32 0, label %138
    i32 2, label %147
  ]
138:
  store i64 0, ptr %133, align 8
  %139 = add i64 %130, -1
  br label %147
140:
  %141 = getelementptr inbounds nuw i8, ptr %133, i64 160
  store i32 -1, ptr %141, align 4
  %142 = getelementptr inbounds nuw i8, ptr %133, i64 164
  store i32 0, ptr %142, align 4
  %143 = getelementptr inbounds nuw i8, ptr %133, i64 168
  store i32 0, ptr %143, align 4
  %144 = getelementptr inbounds nuw i8, ptr %133, i64 56
  %145 = load ptr, ptr %144, align 8
  %146 = tail call i32 %145(ptr nonnull %133)
  br label %167
147:
  %148 = phi i64 [ %139, %138 ], [ %130, %129 ], [ %130, %136 ]
  %149 = add i64 %131, %9
  %150 = icmp ult i64 %149, %27
  br i1 %150, label %129, label %151
151:
  %152 = phi i64 [ %34, %128 ], [ %148, %147 ]
  %153 = icmp eq i64 %152, %34
  %154 = add i64 %33, 1
  %155 = select i1 %153, i64 %154, i64 0
  %156 = icmp ugt i64 %155, 1023
  %157 = select i1 %30, i1 %156, i1 false
  %158 = tail call range(i64 1, 65) i64 @llvm.ctpop.i64(i64 %155)
  %159 = icmp samesign ult i64 %158, 2
  %160 = select i1 %157, i1 %159, i1 false
  br i1 %160, label %161, label %165
161:
  store i32 -3, ptr %13, align 4
  store i32 0, ptr %14, align 4
  store i32 0, ptr %15, align 4
  %162 = load ptr, ptr %16, align 8
  %163 = tail call i32 %162(ptr %0)
  %164 = icmp eq i32 %163, 2
  br i1 %164, label %167, label %165
165:
  %166 = phi i64 [ %155, %151 ], [ %154, %161 ]
  br label %32
167:
  %168 = phi i32 [ 1, %140 ], [ %137, %136 ], [ 0, %127 ], [ 1, %161 ]
  ret i32 %168
}

define internal void @park(ptr %0, ptr %1, i32 %2, i32 %3) noinline #0 {
  %5 = zext i32 %2 to i64
  %6 = getelementptr inbounds nuw i32, ptr %0, i64 %5
  %7 = load i32, ptr %6, align 4
  %8 = or i32 %7, %3
  store i32 %8, ptr %6, align 4
  %9 = load i32, ptr %1, align 4
  %10 = or i32 %9, %3
  store i32 %10, ptr %1, align 4
  ret void
}

define internal range(i32 0, 3) i32 @advance(ptr %0, ptr %1, i32 %2, i32 %3, i32 %4, i32 %5) noinline #0 {
  %7 = xor i32 %3, %2
  %8 = icmp ne i32 %3, %2
  %9 = icmp ne i32 %3, 0
  %10 = and i1 %8, %9
  br i1 %10, label %16, label %11
11:
  %12 = load i32, ptr %1, align 4
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %14, label %16
14:
  %15 = select i1 %8, i32 2, i32 1
  br label %17
16:
  tail call void @park(ptr %0, ptr %1, i32 %4, i32 %3)
  tail call void @park(ptr %0, ptr %1, i32 %5, i32 %7)
  br label %17
17:
  %18 = phi i32 [ 0, %16 ], [ %15, %14 ]
  ret i32 %18
}

define internal i32 @tick(ptr %0, i32 %1, i32 %2, i32 %3) noinline #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 72
  %6 = load i64, ptr %5, align 8
  %7 = add i64 %6, -1
  store i64 %7, ptr %5, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %9, label %16, !prof !{!"branch_weights", !"expected", i32 1, i32 2000}
9:
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 160
  store i32 %2, ptr %10, align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 164
  store i32 %1, ptr %11, align 4
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 168
  store i32 %3, ptr %12, align 4
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %14 = load ptr, ptr %13, align 8
  %15 = tail call i32 %14(ptr nonnull %0)
  br label %16
16:
  %17 = phi i32 [ %15, %9 ], [ 0, %4 ]
  ret i32 %17
}

define internal range(i64 4294967296, 0) i64 @take_lanes(ptr %0, i32 %1, i32 %2) noinline #0 {
  br label %4
4:
  %5 = phi i32 [ %1, %3 ], [ %11, %4 ]
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds nuw i32, ptr %0, i64 %6
  %8 = load i32, ptr %7, align 4
  %9 = and i32 %8, %2
  %10 = icmp eq i32 %9, 0
  %11 = add i32 %5, 1
  br i1 %10, label %4, label %12
12:
  %13 = getelementptr inbounds nuw i32, ptr %0, i64 %6
  %14 = xor i32 %9, %8
  store i32 %14, ptr %13, align 4
  %15 = zext i32 %9 to i64
  %16 = shl nuw i64 %15, 32
  %17 = or disjoint i64 %16, %6
  ret i64 %17
}

define internal range(i64 4294967296, 0) i64 @take_turn(ptr %0, i32 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %4 = load i32, ptr %3, align 4
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 8), align 4
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  br label %8
8:
  %9 = phi i32 [ %4, %2 ], [ %12, %24 ]
  %10 = add i32 %9, 1
  %11 = icmp ult i32 %10, %5
  %12 = select i1 %11, i32 %10, i32 0
  %13 = shl i32 %12, 2
  %14 = add i32 %13, %6
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 %15
  %17 = load i32, ptr %16, align 4
  %18 = icmp eq i32 %17, 0
  br i1 %18, label %24, label %19
19:
  %20 = load i32, ptr %7, align 4
  %21 = icmp eq i32 %12, %20
  %22 = icmp ne i32 %17, %1
  %23 = and i1 %22, %21
  br i1 %23, label %24, label %25
24:
  br label %8
25:
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 %15
  store i32 %12, ptr %3, align 4
  store i32 0, ptr %26, align 4
  %27 = zext i32 %17 to i64
  %28 = shl nuw i64 %27, 32
  %29 = zext i32 %12 to i64
  %30 = or disjoint i64 %28, %29
  ret i64 %30
}

define internal i32 @unpark(ptr %0) noinline #0 {
  %2 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 8), align 4
  %3 = icmp eq i32 %2, 0
  br i1 %3, label %13, label %4
4:
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %7 = zext i32 %2 to i64
  br label %8
8:
  %9 = phi i64 [ 0, %4 ], [ %29, %15 ]
  %10 = phi i32 [ 0, %4 ], [ %28, %15 ]
  %11 = load i32, ptr %0, align 4
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %13, label %15
13:
  %14 = phi i32 [ 0, %1 ], [ %28, %15 ], [ %10, %8 ]
  ret i32 %14
15:
  %16 = trunc nuw i64 %9 to i32
  %17 = shl i32 %16, 2
  %18 = add i32 %5, %17
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 %19
  %21 = load i32, ptr %20, align 4
  %22 = add i32 %6, %17
  %23 = zext i32 %22 to i64
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 %23
  %25 = load i32, ptr %24, align 4
  %26 = or i32 %25, %21
  store i32 %26, ptr %24, align 4
  %27 = load i32, ptr %20, align 4
  %28 = or i32 %27, %10
  store i32 0, ptr %20, align 4
  %29 = add nuw nsw i64 %9, 1
  %30 = icmp eq i64 %29, %7
  br i1 %30, label %13, label %8
}

define internal void @count_lanes(ptr %0, i32 %1) noinline #0 {
  %3 = bitcast i32 %1 to <32 x i1>
  %4 = zext <32 x i1> %3 to <32 x i32>
  %5 = load <32 x i32>, ptr %0, align 4
  %6 = add <32 x i32> %5, %4
  store <32 x i32> %6, ptr %0, align 4
  ret void
}

define internal i64 @nanoseconds(i32 %0) noinline #0 {
  %2 = alloca [2 x i64], align 16
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2)
  %3 = call i32 @clock_gettime(i32 %0, ptr nonnull %2)
  %4 = load i64, ptr %2, align 16
  %5 = mul i64 %4, 1000000000
  %6 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %7 = load i64, ptr %6, align 8
  %8 = add i64 %5, %7
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2)
  ret i64 %8
}

define internal void @sum_exactly(ptr %0, ptr %1, ptr %2, ptr %3, i32 %4, i32 %5, i32 %6, i32 %7, i32 %8, i32 %9, i32 %10, i32 %11) noinline #0 {
  %13 = alloca [32 x i32], align 16
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %13)
  %14 = icmp eq i32 %4, 0
  br i1 %14, label %17, label %15
15:
  %16 = zext i32 %4 to i64
  br label %23
17:
  %18 = add i32 %6, %5
  %19 = icmp ult i32 %5, %18
  br i1 %19, label %20, label %46
20:
  %21 = icmp eq i32 %11, 0
  %22 = zext i32 %4 to i64
  br label %42
23:
  %24 = phi i64 [ 0, %15 ], [ %40, %23 ]
  %25 = getelementptr inbounds nuw float, ptr %2, i64 %24
  %26 = load float, ptr %25, align 4
  %27 = fpext float %26 to double
  %28 = bitcast double %27 to i64
  %29 = lshr i64 %28, 52
  %30 = trunc nuw nsw i64 %29 to i32
  %31 = and i32 %30, 2047
  %32 = icmp eq i32 %31, 2047
  %33 = add nsw i32 %31, -1023
  %34 = select i1 %32, i32 -1, i32 %33
  %35 = tail call i32 @llvm.smax.i32(i32 %34, i32 %10)
  %36 = fcmp oeq float %26, 0.000000e+00
  %37 = tail call i32 @llvm.smax.i32(i32 %35, i32 -400)
  %38 = select i1 %36, i32 -400, i32 %37
  %39 = getelementptr inbounds nuw [32 x i32], ptr %13, i64 0, i64 %24
  store i32 %38, ptr %39, align 4
  %40 = add nuw nsw i64 %24, 1
  %41 = icmp eq i64 %40, %16
  br i1 %41, label %17, label %23
42:
  %43 = phi i32 [ %5, %20 ], [ %51, %50 ]
  br i1 %14, label %50, label %44
44:
  %45 = mul i32 %43, %4
  br label %53
46:
  br i1 %14, label %92, label %47
47:
  %48 = add i32 %7, 1023
  %49 = zext i32 %4 to i64
  br label %99
50:
  %51 = add nuw i32 %43, 1
  %52 = icmp eq i32 %51, %18
  br i1 %52, label %46, label %42
53:
  %54 = phi i64 [ 0, %44 ], [ %90, %53 ]
  %55 = trunc nuw i64 %54 to i32
  %56 = add i32 %45, %55
  %57 = select i1 %21, i32 %43, i32 %56
  %58 = zext i32 %57 to i64
  %59 = getelementptr inbounds nuw float, ptr %1, i64 %58
  %60 = load float, ptr %59, align 4
  %61 = zext i32 %56 to i64
  %62 = getelementptr inbounds nuw float, ptr %0, i64 %61
  %63 = load float, ptr %62, align 4
  %64 = fpext float %63 to double
  %65 = bitcast double %64 to i64
  %66 = lshr i64 %65, 52
  %67 = trunc nuw nsw i64 %66 to i32
  %68 = and i32 %67, 2047
  %69 = icmp eq i32 %68, 2047
  %70 = add nsw i32 %68, -1023
  %71 = select i1 %69, i32 -1, i32 %70
  %72 = tail call i32 @llvm.smax.i32(i32 %71, i32 %8)
  %73 = fcmp oeq float %63, 0.000000e+00
  %74 = select i1 %73, i32 -2000, i32 %72
  %75 = getelementptr inbounds nuw [32 x i32], ptr %13, i64 0, i64 %54
  %76 = load i32, ptr %75, align 4
  %77 = fpext float %60 to double
  %78 = bitcast double %77 to i64
  %79 = lshr i64 %78, 52
  %80 = trunc nuw nsw i64 %79 to i32
  %81 = and i32 %80, 2047
  %82 = icmp eq i32 %81, 2047
  %83 = add nsw i32 %81, -1023
  %84 = select i1 %82, i32 -1, i32 %83
  %85 = tail call i32 @llvm.smax.i32(i32 %84, i32 %9)
  %86 = fcmp oeq float %60, 0.000000e+00
  %87 = select i1 %86, i32 -2000, i32 %85
  %88 = add nsw i32 %74, %87
  %89 = tail call i32 @llvm.smax.i32(i32 %76, i32 %88)
  store i32 %89, ptr %75, align 4
  %90 = add nuw nsw i64 %54, 1
  %91 = icmp eq i64 %90, %22
  br i1 %91, label %50, label %53
92:
  br i1 %19, label %93, label %120
93:
  %94 = icmp eq i32 %11, 0
  %95 = add i32 %7, 1023
  %96 = zext i32 %5 to i64
  %97 = zext i32 %18 to i64
  %98 = zext i32 %4 to i64
  br label %115
99:
  %100 = phi i64 [ 0, %47 ], [ %113, %99 ]
  %101 = getelementptr inbounds nuw float, ptr %2, i64 %100
  %102 = load float, ptr %101, align 4
  %103 = fpext float %102 to double
  %104 = getelementptr inbounds nuw [32 x i32], ptr %13, i64 0, i64 %100
  %105 = load i32, ptr %104, align 4
  %106 = sub i32 %48, %105
  %107 = zext i32 %106 to i64
  %108 = shl i64 %107, 52
  %109 = bitcast i64 %108 to double
  %110 = fmul double %103, %109
  %111 = tail call double @llvm.trunc.f64(double %110)
  %112 = getelementptr inbounds nuw double, ptr %3, i64 %100
  store double %111, ptr %112, align 8
  %113 = add nuw nsw i64 %100, 1
  %114 = icmp eq i64 %113, %49
  br i1 %114, label %92, label %99
115:
  %116 = phi i64 [ %96, %93 ], [ %124, %123 ]
  br i1 %14, label %123, label %117
117:
  %118 = trunc nuw i64 %116 to i32
  %119 = mul i32 %4, %118
  br label %126
120:
  br i1 %14, label %152, label %121
121:
  %122 = zext i32 %4 to i64
  br label %153
123:
  %124 = add nuw nsw i64 %116, 1
  %125 = icmp eq i64 %124, %97
  br i1 %125, label %120, label %115
126:
  %127 = phi i64 [ 0, %117 ], [ %150, %126 ]
  %128 = trunc nuw i64 %127 to i32
  %129 = add i32 %119, %128
  %130 = zext i32 %129 to i64
  %131 = getelementptr inbounds nuw float, ptr %0, i64 %130
  %132 = load float, ptr %131, align 4
  %133 = fpext float %132 to double
  %134 = select i1 %94, i64 %116, i64 %130
  %135 = getelementptr inbounds nuw float, ptr %1, i64 %134
  %136 = load float, ptr %135, align 4
  %137 = fpext float %136 to double
  %138 = fmul double %133, %137
  %139 = getelementptr inbounds nuw [32 x i32], ptr %13, i64 0, i64 %127
  %140 = load i32, ptr %139, align 4
  %141 = sub i32 %95, %140
  %142 = zext i32 %141 to i64
  %143 = shl i64 %142, 52
  %144 = bitcast i64 %143 to double
  %145 = fmul double %138, %144
  %146 = tail call double @llvm.trunc.f64(double %145)
  %147 = getelementptr inbounds nuw double, ptr %3, i64 %127
  %148 = load double, ptr %147, align 8
  %149 = fadd double %148, %146
  store double %149, ptr %147, align 8
  %150 = add nuw nsw i64 %127, 1
  %151 = icmp eq i64 %150, %98
  br i1 %151, label %123, label %126
152:
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %13)
  ret void
153:
  %154 = phi i64 [ 0, %121 ], [ %165, %153 ]
  %155 = getelementptr inbounds nuw [32 x i32], ptr %13, i64 0, i64 %154
  %156 = load i32, ptr %155, align 4
  %157 = sub i32 %156, %7
  %158 = add i32 %157, 1023
  %159 = zext i32 %158 to i64
  %160 = shl i64 %159, 52
  %161 = bitcast i64 %160 to double
  %162 = getelementptr inbounds nuw double, ptr %3, i64 %154
  %163 = load double, ptr %162, align 8
  %164 = fmul double %163, %161
  store double %164, ptr %162, align 8
  %165 = add nuw nsw i64 %154, 1
  %166 = icmp eq i64 %165, %122
  br i1 %166, label %152, label %153
}

define internal void @count_bits(ptr %0, ptr %1, ptr %2, ptr noalias %3, i32 %4, i32 %5, i32 %6, i32 %7) noinline #0 {
  %9 = icmp eq i32 %5, 0
  br i1 %9, label %17, label %10
10:
  %11 = zext i32 %4 to i64
  %12 = shl nuw nsw i64 %11, 2
  %13 = icmp eq i32 %6, 0
  %14 = icmp eq i32 %4, 0
  %15 = icmp eq i32 %7, 0
  %16 = zext i32 %6 to i64
  br label %18
17:
  ret void
18:
  %19 = phi ptr [ %1, %10 ], [ %32, %30 ]
  %20 = phi ptr [ %2, %10 ], [ %33, %30 ]
  %21 = phi i32 [ 0, %10 ], [ %31, %30 ]
  %22 = phi ptr [ %3, %10 ], [ %34, %30 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 4 %22, ptr align 4 %20, i64 %12, i1 false)
  br i1 %13, label %30, label %23
23:
  %24 = phi i64 [ %37, %36 ], [ 0, %18 ]
  br i1 %14, label %36, label %25
25:
  %26 = trunc nuw i64 %24 to i32
  %27 = mul i32 %4, %26
  %28 = getelementptr inbounds nuw i32, ptr %19, i64 %24
  %29 = load i32, ptr %28, align 4
  br label %39
30:
  %31 = add nuw i32 %21, 1
  %32 = getelementptr inbounds nuw i32, ptr %19, i64 %16
  %33 = getelementptr inbounds nuw i32, ptr %20, i64 %11
  %34 = getelementptr inbounds nuw i32, ptr %22, i64 %11
  %35 = icmp eq i32 %31, %5
  br i1 %35, label %17, label %18
36:
  %37 = add nuw nsw i64 %24, 1
  %38 = icmp eq i64 %37, %16
  br i1 %38, label %30, label %23
39:
  %40 = phi i64 [ 0, %25 ], [ %53, %39 ]
  %41 = trunc nuw i64 %40 to i32
  %42 = add i32 %27, %41
  %43 = zext i32 %42 to i64
  %44 = getelementptr inbounds nuw i32, ptr %0, i64 %43
  %45 = load i32, ptr %44, align 4
  %46 = xor i32 %29, %45
  %47 = and i32 %29, %45
  %48 = select i1 %15, i32 %47, i32 %46
  %49 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %48)
  %50 = getelementptr inbounds nuw i32, ptr %22, i64 %40
  %51 = load i32, ptr %50, align 4
  %52 = add i32 %49, %51
  store i32 %52, ptr %50, align 4
  %53 = add nuw nsw i64 %40, 1
  %54 = icmp eq i64 %53, %11
  br i1 %54, label %36, label %39
}

define internal void @find_units(ptr %0, ptr %1, ptr %2, i32 %3, i32 %4, i32 %5) noinline #0 {
  %7 = icmp eq i32 %3, 0
  br i1 %7, label %14, label %8
8:
  %9 = icmp eq i32 %4, 0
  %10 = zext i32 %4 to i64
  br label %11
11:
  %12 = phi ptr [ %1, %8 ], [ %16, %15 ]
  %13 = phi i32 [ 0, %8 ], [ %17, %15 ]
  br i1 %9, label %15, label %19
14:
  ret void
15:
  %16 = phi ptr [ %12, %11 ], [ %33, %32 ]
  %17 = add nuw i32 %13, 1
  %18 = icmp eq i32 %17, %3
  br i1 %18, label %14, label %11
19:
  %20 = phi i64 [ %34, %32 ], [ 0, %11 ]
  %21 = phi ptr [ %33, %32 ], [ %12, %11 ]
  %22 = load i32, ptr %21, align 4
  %23 = lshr i32 %22, 5
  %24 = zext nneg i32 %23 to i64
  %25 = getelementptr inbounds nuw i32, ptr %0, i64 %24
  %26 = load i32, ptr %25, align 4
  %27 = and i32 %22, 31
  %28 = lshr i32 %26, %27
  %29 = trunc nuw i64 %20 to i32
  %30 = shl i32 %29, 2
  %31 = shl nuw i64 %20, 1
  br label %36
32:
  %33 = getelementptr inbounds nuw i8, ptr %21, i64 4
  %34 = add nuw nsw i64 %20, 1
  %35 = icmp eq i64 %34, %10
  br i1 %35, label %15, label %19
36:
  %37 = phi i1 [ true, %19 ], [ false, %36 ]
  %38 = phi i64 [ 0, %19 ], [ 1, %36 ]
  %39 = phi i32 [ %28, %19 ], [ %49, %36 ]
  %40 = and i32 %39, 3
  %41 = or disjoint i32 %40, %30
  %42 = mul i32 %41, %5
  %43 = or disjoint i64 %38, %31
  %44 = trunc i64 %43 to i32
  %45 = mul i32 %3, %44
  %46 = add i32 %45, %13
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds nuw i32, ptr %2, i64 %47
  store i32 %42, ptr %48, align 4
  %49 = lshr i32 %39, 2
  br i1 %37, label %36, label %32
}

define internal void @select_words(ptr %0, ptr %1, ptr %2, i32 %3, i32 %4, i32 %5) noinline #0 {
  %7 = icmp eq i32 %4, 0
  br i1 %7, label %18, label %8
8:
  %9 = icmp eq i32 %3, 0
  %10 = icmp eq i32 %5, 2
  %11 = zext i32 %3 to i64
  br label %12
12:
  %13 = phi ptr [ %2, %8 ], [ %24, %22 ]
  %14 = phi i32 [ 0, %8 ], [ %23, %22 ]
  br i1 %9, label %22, label %15
15:
  %16 = udiv i32 4, %5
  %17 = mul i32 %16, %14
  br label %19
18:
  ret void
19:
  %20 = phi i64 [ 0, %15 ], [ %28, %26 ]
  %21 = trunc nuw i64 %20 to i32
  br label %30
22:
  %23 = add nuw i32 %14, 1
  %24 = getelementptr inbounds nuw i32, ptr %13, i64 %11
  %25 = icmp eq i32 %23, %4
  br i1 %25, label %18, label %12
26:
  %27 = getelementptr inbounds nuw i32, ptr %13, i64 %20
  store i32 %52, ptr %27, align 4
  %28 = add nuw nsw i64 %20, 1
  %29 = icmp eq i64 %28, %11
  br i1 %29, label %22, label %19
30:
  %31 = phi i32 [ 0, %19 ], [ %53, %48 ]
  %32 = phi i32 [ 0, %19 ], [ %52, %48 ]
  %33 = udiv i32 %31, %5
  %34 = add i32 %17, %33
  %35 = mul i32 %34, %3
  %36 = add i32 %35, %21
  %37 = zext i32 %36 to i64
  %38 = getelementptr inbounds nuw i32, ptr %1, i64 %37
  %39 = load i32, ptr %38, align 4
  %40 = zext i32 %39 to i64
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 %40
  br i1 %10, label %42, label %45
42:
  %43 = load i16, ptr %41, align 2
  %44 = zext i16 %43 to i32
  br label %48
45:
  %46 = load i8, ptr %41, align 1
  %47 = zext i8 %46 to i32
  br label %48
48:
  %49 = phi i32 [ %44, %42 ], [ %47, %45 ]
  %50 = shl nuw nsw i32 %31, 3
  %51 = shl i32 %49, %50
  %52 = or i32 %51, %32
  %53 = add i32 %31, %5
  %54 = icmp ult i32 %53, 4
  br i1 %54, label %30, label %26
}

define internal void @count_synchronization(ptr %0, ptr %1, i32 %2) noinline #0 {
  %4 = load i32, ptr %1, align 4
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %6 = load ptr, ptr %5, align 8
  %7 = load <32 x i32>, ptr %6, align 4
  %8 = insertelement <32 x i32> poison, i32 %4, i64 0
  %9 = shufflevector <32 x i32> %8, <32 x i32> poison, <32 x i32> zeroinitializer
  %10 = and <32 x i32> %7, %9
  %11 = icmp ne <32 x i32> %10, %9
  %12 = bitcast <32 x i1> %11 to i32
  %13 = icmp eq i32 %2, %4
  %14 = and i32 %2, %12
  %15 = icmp eq i32 %14, 0
  %16 = select i1 %13, i1 %15, i1 false
  br i1 %16, label %17, label %23
17:
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %19 = load i32, ptr %18, align 4
  %20 = icmp ult i32 %19, 1023
  br i1 %20, label %21, label %23
21:
  %22 = add nuw nsw i32 %19, 1
  store i32 %22, ptr %18, align 4
  br label %23
23:
  ret void
}

define internal void @read_row(ptr %0, ptr %1, i32 %2, ptr %3, i64 %4, i32 %5, i32 %6) noinline #0 {
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %9 = udiv i32 8, %8
  %10 = zext nneg i32 %9 to i64
  %11 = mul i64 %4, %10
  %12 = getelementptr inbounds nuw i8, ptr %3, i64 %11
  %13 = icmp ugt i32 %8, %6
  br i1 %13, label %77, label %14
14:
  %15 = udiv i32 %6, %8
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %17 = load i64, ptr %16, align 8
  %18 = zext i32 %2 to i64
  %19 = shl nuw nsw i64 %18, 25
  %20 = or i64 %17, %19
  %21 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %22 = load i32, ptr %21, align 4
  %23 = zext i32 %22 to i64
  %24 = shl nuw nsw i64 %23, 15
  %25 = or i64 %20, %24
  %26 = mul i32 %15, %5
  %27 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %15, i1 true)
  %28 = insertelement <16 x i32> poison, i32 %27, i64 0
  %29 = shufflevector <16 x i32> %28, <16 x i32> poison, <16 x i32> zeroinitializer
  %30 = zext nneg <16 x i32> %29 to <16 x i64>
  %31 = insertelement <16 x i64> poison, i64 %25, i64 0
  %32 = shufflevector <16 x i64> %31, <16 x i64> poison, <16 x i32> zeroinitializer
  %33 = or <16 x i64> %32, splat (i64 73)
  %34 = zext i32 %15 to i64
  br label %35
35:
  %36 = phi i64 [ 0, %14 ], [ %75, %35 ]
  %37 = phi <16 x i64> [ zeroinitializer, %14 ], [ %74, %35 ]
  %38 = trunc nuw i64 %36 to i32
  %39 = add i32 %26, %38
  %40 = shl i32 %39, 4
  %41 = zext i32 %40 to i64
  %42 = insertelement <16 x i64> poison, i64 %41, i64 0
  %43 = shufflevector <16 x i64> %42, <16 x i64> poison, <16 x i32> zeroinitializer
  %44 = or disjoint <16 x i64> %43, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %45 = lshr <16 x i64> %44, %30
  %46 = shl nuw nsw <16 x i64> %45, splat (i64 9)
  %47 = getelementptr inbounds nuw <16 x i64>, ptr %12, i64 %36
  %48 = load <16 x i64>, ptr %47, align 8
  %49 = or <16 x i64> %46, %32
  %50 = xor <16 x i64> %48, %49
  %51 = and <16 x i64> %48, splat (i64 16384)
  %52 = or <16 x i64> %50, %51
  %53 = icmp ugt <16 x i64> %50, splat (i64 140737488355327)
  %54 = select <16 x i1> %53, <16 x i64> splat (i64 -140737488354944), <16 x i64> zeroinitializer
  %55 = icmp ult <16 x i64> %50, splat (i64 2147483648)
  %56 = select <16 x i1> %55, <16 x i64> splat (i64 1073741872), <16 x i64> %54
  %57 = icmp ugt <16 x i64> %50, splat (i64 33554431)
  %58 = select <16 x i1> %57, <16 x i64> %56, <16 x i64> zeroinitializer
  %59 = icmp ult <16 x i64> %50, splat (i64 32768)
  %60 = select <16 x i1> %59, <16 x i64> splat (i64 16390), <16 x i64> %58
  %61 = icmp ugt <16 x i64> %52, splat (i64 511)
  %62 = select <16 x i1> %61, <16 x i64> %60, <16 x i64> zeroinitializer
  %63 = icmp eq <16 x i64> %48, zeroinitializer
  %64 = select <16 x i1> %63, <16 x i64> zeroinitializer, <16 x i64> %62
  %65 = select <16 x i1> %55, <16 x i64> splat (i64 432), <16 x i64> splat (i64 384)
  %66 = select <16 x i1> %59, <16 x i64> splat (i64 438), <16 x i64> %65
  %67 = and <16 x i64> %48, splat (i64 511)
  %68 = and <16 x i64> %67, %64
  %69 = and <16 x i64> %66, %48
  %70 = and <16 x i64> %64, splat (i64 -512)
  %71 = or <16 x i64> %33, %69
  %72 = or <16 x i64> %71, %70
  %73 = or <16 x i64> %72, %46
  store <16 x i64> %73, ptr %47, align 8
  %74 = or <16 x i64> %68, %37
  %75 = add nuw nsw i64 %36, 1
  %76 = icmp samesign ult i64 %75, %34
  br i1 %76, label %35, label %77
77:
  %78 = phi <16 x i64> [ zeroinitializer, %7 ], [ %74, %35 ]
  %79 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %78)
  %80 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %81 = load i64, ptr %80, align 8
  %82 = or i64 %81, %79
  store i64 %82, ptr %80, align 8
  ret void
}

define internal void @write_row(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i64 %5, i32 %6) noinline #0 {
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %12 = load i32, ptr %11, align 4
  %13 = udiv i32 8, %8
  %14 = zext nneg i32 %13 to i64
  %15 = mul i64 %5, %14
  %16 = getelementptr inbounds nuw i8, ptr %3, i64 %15
  %17 = getelementptr inbounds nuw i8, ptr %4, i64 %5
  %18 = load <16 x i64>, ptr %16, align 8
  %19 = and <16 x i64> %18, splat (i64 146)
  %20 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %19)
  %21 = icmp eq i64 %20, 0
  br i1 %21, label %50, label %22
22:
  %23 = mul i32 %6, %8
  %24 = shl i32 %23, 4
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %27 = load ptr, ptr %26, align 8
  %28 = getelementptr inbounds nuw i8, ptr %27, i64 %25
  switch i32 %8, label %45 [
    i32 1, label %29
    i32 2, label %33
    i32 4, label %37
    i32 8, label %41
  ]
29:
  %30 = load <16 x i8>, ptr %17, align 1
  %31 = load <16 x i8>, ptr %28, align 1
  %32 = icmp ne <16 x i8> %30, %31
  br label %45
33:
  %34 = load <16 x i16>, ptr %17, align 1
  %35 = load <16 x i16>, ptr %28, align 1
  %36 = icmp ne <16 x i16> %34, %35
  br label %45
37:
  %38 = load <16 x i32>, ptr %17, align 1
  %39 = load <16 x i32>, ptr %28, align 1
  %40 = icmp ne <16 x i32> %38, %39
  br label %45
41:
  %42 = load <16 x i64>, ptr %17, align 1
  %43 = load <16 x i64>, ptr %28, align 1
  %44 = icmp ne <16 x i64> %42, %43
  br label %45
45:
  %46 = phi <16 x i1> [ zeroinitializer, %22 ], [ %44, %41 ], [ %40, %37 ], [ %36, %33 ], [ %32, %29 ]
  %47 = lshr exact <16 x i64> %19, splat (i64 1)
  %48 = select <16 x i1> %46, <16 x i64> %47, <16 x i64> zeroinitializer
  %49 = or <16 x i64> %48, %18
  br label %50
50:
  %51 = phi <16 x i64> [ %49, %45 ], [ %18, %7 ]
  %52 = shl i32 %6, 4
  %53 = zext i32 %52 to i64
  %54 = insertelement <16 x i64> poison, i64 %53, i64 0
  %55 = shufflevector <16 x i64> %54, <16 x i64> poison, <16 x i32> zeroinitializer
  %56 = or disjoint <16 x i64> %55, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %57 = shl nuw nsw <16 x i64> %56, splat (i64 9)
  %58 = zext i32 %2 to i64
  %59 = shl nuw nsw i64 %58, 25
  %60 = or i64 %10, %59
  %61 = zext i32 %12 to i64
  %62 = shl nuw nsw i64 %61, 15
  %63 = or i64 %60, %62
  %64 = insertelement <16 x i64> poison, i64 %63, i64 0
  %65 = shufflevector <16 x i64> %64, <16 x i64> poison, <16 x i32> zeroinitializer
  %66 = or <16 x i64> %65, splat (i64 146)
  %67 = or <16 x i64> %57, %65
  %68 = xor <16 x i64> %51, %67
  %69 = and <16 x i64> %51, splat (i64 16384)
  %70 = or <16 x i64> %68, %69
  %71 = icmp ugt <16 x i64> %68, splat (i64 140737488355327)
  %72 = select <16 x i1> %71, <16 x i64> splat (i64 -140737488355008), <16 x i64> zeroinitializer
  %73 = icmp ult <16 x i64> %68, splat (i64 2147483648)
  %74 = select <16 x i1> %73, <16 x i64> splat (i64 1073741864), <16 x i64> %72
  %75 = icmp ugt <16 x i64> %68, splat (i64 33554431)
  %76 = select <16 x i1> %75, <16 x i64> %74, <16 x i64> zeroinitializer
  %77 = icmp ult <16 x i64> %68, splat (i64 32768)
  %78 = select <16 x i1> %77, <16 x i64> splat (i64 16389), <16 x i64> %76
  %79 = icmp ugt <16 x i64> %70, splat (i64 511)
  %80 = select <16 x i1> %79, <16 x i64> %78, <16 x i64> zeroinitializer
  %81 = icmp eq <16 x i64> %51, zeroinitializer
  %82 = select <16 x i1> %81, <16 x i64> zeroinitializer, <16 x i64> %80
  %83 = select <16 x i1> %73, <16 x i64> splat (i64 360), <16 x i64> splat (i64 320)
  %84 = select <16 x i1> %77, <16 x i64> splat (i64 365), <16 x i64> %83
  %85 = and <16 x i64> %51, splat (i64 511)
  %86 = and <16 x i64> %85, %82
  %87 = and <16 x i64> %84, %51
  %88 = and <16 x i64> %82, splat (i64 -512)
  %89 = or <16 x i64> %66, %87
  %90 = or <16 x i64> %89, %88
  %91 = or <16 x i64> %90, %57
  store <16 x i64> %91, ptr %16, align 8
  %92 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %86)
  %93 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %94 = load i64, ptr %93, align 8
  %95 = or i64 %94, %92
  store i64 %95, ptr %93, align 8
  ret void
}

define internal void @read_uniform(ptr %0, ptr %1, i32 %2, ptr %3, i64 %4, i32 %5) noinline #0 {
  %7 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %8 = udiv i32 8, %7
  %9 = zext nneg i32 %8 to i64
  %10 = mul i64 %4, %9
  %11 = getelementptr inbounds nuw i8, ptr %3, i64 %10
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %15 = load i32, ptr %14, align 4
  %16 = zext i32 %15 to i64
  %17 = shl nuw nsw i64 %16, 15
  %18 = zext i32 %2 to i64
  %19 = shl nuw nsw i64 %18, 25
  %20 = or i64 %19, %13
  %21 = or i64 %20, %17
  %22 = or i64 %21, 16384
  %23 = icmp ugt i32 %7, %5
  br i1 %23, label %28, label %24
24:
  %25 = udiv i32 %5, %7
  %26 = zext i32 %25 to i64
  %27 = or i64 %21, 16457
  br label %33
28:
  %29 = phi i64 [ 0, %6 ], [ %61, %33 ]
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %31 = load i64, ptr %30, align 8
  %32 = or i64 %31, %29
  store i64 %32, ptr %30, align 8
  ret void
33:
  %34 = phi i64 [ 0, %24 ], [ %62, %33 ]
  %35 = phi i64 [ 0, %24 ], [ %61, %33 ]
  %36 = getelementptr inbounds nuw i64, ptr %11, i64 %34
  %37 = load i64, ptr %36, align 8
  %38 = xor i64 %37, %22
  %39 = icmp ult i64 %38, 140737488355328
  %40 = select i1 %39, i64 0, i64 -140737488354944
  %41 = icmp ult i64 %38, 2147483648
  %42 = select i1 %41, i64 1073741872, i64 %40
  %43 = icmp ult i64 %38, 32768
  %44 = icmp ult i64 %38, 33554432
  %45 = select i1 %44, i64 0, i64 %42
  %46 = select i1 %43, i64 16390, i64 %45
  %47 = and i64 %37, 16384
  %48 = or i64 %38, %47
  %49 = icmp ult i64 %48, 512
  %50 = icmp eq i64 %37, 0
  %51 = or i1 %50, %49
  %52 = select i1 %51, i64 0, i64 %46
  %53 = select i1 %41, i64 432, i64 384
  %54 = select i1 %43, i64 438, i64 %53
  %55 = and i64 %37, 438
  %56 = and i64 %55, %52
  %57 = and i64 %54, %37
  %58 = and i64 %52, -140736414613504
  %59 = or disjoint i64 %57, %58
  %60 = or i64 %59, %27
  store i64 %60, ptr %36, align 8
  %61 = or i64 %56, %35
  %62 = add nuw nsw i64 %34, 1
  %63 = icmp samesign ult i64 %62, %26
  br i1 %63, label %33, label %28
}

define internal i32 @record_accesses(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, i64 %6, i32 %7, i32 %8, i32 %9) noinline #0 {
  %11 = alloca [2 x <16 x i64>], align 16
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load ptr, ptr %12, align 8
  %14 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %15 = udiv i32 8, %14
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr inbounds nuw i8, ptr %13, i64 512
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %19 = load i64, ptr %18, align 8
  %20 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %21 = load i32, ptr %20, align 4
  %22 = zext i32 %21 to i64
  %23 = shl nuw nsw i64 %22, 15
  %24 = zext i32 %2 to i64
  %25 = shl nuw nsw i64 %24, 25
  %26 = or i64 %19, %25
  %27 = or i64 %26, %23
  %28 = udiv i32 %7, %14
  %29 = mul i64 %6, %16
  %30 = getelementptr inbounds nuw i8, ptr %3, i64 %29
  %31 = icmp ne i32 %8, 2
  %32 = icmp eq i32 %5, 0
  %33 = or i1 %31, %32
  %34 = getelementptr inbounds nuw i8, ptr %11, i64 128
  %35 = getelementptr inbounds nuw i8, ptr %11, i64 128
  br i1 %33, label %69, label %36
36:
  %37 = icmp eq i32 %7, 0
  %38 = zext i32 %7 to i64
  br label %39
39:
  %40 = phi i32 [ 0, %36 ], [ %65, %62 ]
  %41 = phi i32 [ %5, %36 ], [ %67, %62 ]
  %42 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %41, i1 true)
  %43 = zext nneg i32 %42 to i64
  %44 = getelementptr inbounds nuw i64, ptr %13, i64 %43
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds nuw i8, ptr %4, i64 %45
  %47 = mul i32 %42, %7
  %48 = zext i32 %47 to i64
  %49 = getelementptr inbounds nuw i8, ptr %17, i64 %48
  br i1 %37, label %62, label %50
50:
  %51 = phi i64 [ %60, %50 ], [ 0, %39 ]
  %52 = phi i32 [ %59, %50 ], [ 0, %39 ]
  %53 = getelementptr inbounds nuw i8, ptr %46, i64 %51
  %54 = load i8, ptr %53, align 1
  %55 = getelementptr inbounds nuw i8, ptr %49, i64 %51
  %56 = load i8, ptr %55, align 1
  %57 = icmp ne i8 %54, %56
  %58 = zext i1 %57 to i32
  %59 = or i32 %52, %58
  %60 = add nuw nsw i64 %51, 1
  %61 = icmp eq i64 %60, %38
  br i1 %61, label %62, label %50
62:
  %63 = phi i32 [ 0, %39 ], [ %59, %50 ]
  %64 = shl nuw i32 %63, %42
  %65 = or i32 %64, %40
  %66 = add i32 %41, -1
  %67 = and i32 %66, %41
  %68 = icmp eq i32 %67, 0
  br i1 %68, label %69, label %39
69:
  %70 = phi i32 [ 0, %10 ], [ %65, %62 ]
  %71 = icmp ugt i32 %14, %7
  br i1 %71, label %93, label %72
72:
  %73 = insertelement <16 x i64> poison, i64 %27, i64 0
  %74 = shufflevector <16 x i64> %73, <16 x i64> poison, <16 x i32> zeroinitializer
  %75 = zext i32 %8 to i64
  %76 = mul nuw nsw i64 %75, 73
  %77 = xor i64 %76, -1
  %78 = and i64 %77, -140737488354880
  %79 = insertelement <16 x i64> poison, i64 %78, i64 0
  %80 = shufflevector <16 x i64> %79, <16 x i64> poison, <16 x i32> zeroinitializer
  %81 = and i64 %77, 56
  %82 = or disjoint i64 %81, 1073741824
  %83 = insertelement <16 x i64> poison, i64 %82, i64 0
  %84 = shufflevector <16 x i64> %83, <16 x i64> poison, <16 x i32> zeroinitializer
  %85 = and i64 %77, 7
  %86 = or disjoint i64 %85, 16384
  %87 = insertelement <16 x i64> poison, i64 %86, i64 0
  %88 = shufflevector <16 x i64> %87, <16 x i64> poison, <16 x i32> zeroinitializer
  %89 = or i64 %27, %76
  %90 = insertelement <16 x i64> poison, i64 %89, i64 0
  %91 = shufflevector <16 x i64> %90, <16 x i64> poison, <16 x i32> zeroinitializer
  %92 = icmp eq i32 %9, 0
  br label %99
93:
  %94 = phi i32 [ 0, %69 ], [ %506, %520 ]
  %95 = phi i64 [ 0, %69 ], [ %106, %520 ]
  %96 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %97 = load i64, ptr %96, align 8
  %98 = or i64 %97, %95
  store i64 %98, ptr %96, align 8
  ret i32 %94
99:
  %100 = phi ptr [ %30, %72 ], [ %522, %520 ]
  %101 = phi i64 [ 0, %72 ], [ %106, %520 ]
  %102 = phi i32 [ 0, %72 ], [ %506, %520 ]
  %103 = phi i32 [ 0, %72 ], [ %521, %520 ]
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %11)
  br label %108
104:
  %105 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %314)
  %106 = or i64 %105, %101
  br i1 %32, label %107, label %315
107:
  br label %331
108:
  %109 = phi i1 [ true, %99 ], [ false, %279 ]
  %110 = phi ptr [ %11, %99 ], [ %34, %279 ]
  %111 = phi i64 [ 0, %99 ], [ 16, %279 ]
  %112 = phi <16 x i64> [ zeroinitializer, %99 ], [ %314, %279 ]
  %113 = trunc nuw nsw i64 %111 to i32
  %114 = lshr i32 %5, %113
  %115 = trunc i32 %114 to i16
  %116 = bitcast i16 %115 to <16 x i1>
  %117 = lshr i32 %70, %113
  %118 = trunc i32 %117 to i16
  %119 = insertelement <16 x i64> poison, i64 %111, i64 0
  %120 = shufflevector <16 x i64> %119, <16 x i64> poison, <16 x i32> zeroinitializer
  %121 = or disjoint <16 x i64> %120, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %122 = getelementptr inbounds nuw i64, ptr %13, i64 %111
  %123 = extractelement <16 x i1> %116, i64 0
  br i1 %123, label %124, label %129
124:
  %125 = load i64, ptr %122, align 8
  %126 = mul i64 %125, %16
  %127 = getelementptr inbounds nuw i8, ptr %100, i64 %126
  %128 = load i64, ptr %127, align 8
  br label %129
129:
  %130 = phi i64 [ %128, %124 ], [ 0, %108 ]
  %131 = insertelement <16 x i64> <i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %130, i64 0
  %132 = extractelement <16 x i1> %116, i64 1
  br i1 %132, label %133, label %139
133:
  %134 = getelementptr inbounds nuw i8, ptr %122, i64 8
  %135 = load i64, ptr %134, align 8
  %136 = mul i64 %135, %16
  %137 = getelementptr inbounds nuw i8, ptr %100, i64 %136
  %138 = load i64, ptr %137, align 8
  br label %139
139:
  %140 = phi i64 [ %138, %133 ], [ 0, %129 ]
  %141 = insertelement <16 x i64> %131, i64 %140, i64 1
  %142 = extractelement <16 x i1> %116, i64 2
  br i1 %142, label %143, label %149
143:
  %144 = getelementptr inbounds nuw i8, ptr %122, i64 16
  %145 = load i64, ptr %144, align 8
  %146 = mul i64 %145, %16
  %147 = getelementptr inbounds nuw i8, ptr %100, i64 %146
  %148 = load i64, ptr %147, align 8
  br label %149
149:
  %150 = phi i64 [ %148, %143 ], [ 0, %139 ]
  %151 = insertelement <16 x i64> %141, i64 %150, i64 2
  %152 = extractelement <16 x i1> %116, i64 3
  br i1 %152, label %153, label %159
153:
  %154 = getelementptr inbounds nuw i8, ptr %122, i64 24
  %155 = load i64, ptr %154, align 8
  %156 = mul i64 %155, %16
  %157 = getelementptr inbounds nuw i8, ptr %100, i64 %156
  %158 = load i64, ptr %157, align 8
  br label %159
159:
  %160 = phi i64 [ %158, %153 ], [ 0, %149 ]
  %161 = insertelement <16 x i64> %151, i64 %160, i64 3
  %162 = extractelement <16 x i1> %116, i64 4
  br i1 %162, label %163, label %169
163:
  %164 = getelementptr inbounds nuw i8, ptr %122, i64 32
  %165 = load i64, ptr %164, align 8
  %166 = mul i64 %165, %16
  %167 = getelementptr inbounds nuw i8, ptr %100, i64 %166
  %168 = load i64, ptr %167, align 8
  br label %169
169:
  %170 = phi i64 [ %168, %163 ], [ 0, %159 ]
  %171 = insertelement <16 x i64> %161, i64 %170, i64 4
  %172 = extractelement <16 x i1> %116, i64 5
  br i1 %172, label %173, label %179
173:
  %174 = getelementptr inbounds nuw i8, ptr %122, i64 40
  %175 = load i64, ptr %174, align 8
  %176 = mul i64 %175, %16
  %177 = getelementptr inbounds nuw i8, ptr %100, i64 %176
  %178 = load i64, ptr %177, align 8
  br label %179
179:
  %180 = phi i64 [ %178, %173 ], [ 0, %169 ]
  %181 = insertelement <16 x i64> %171, i64 %180, i64 5
  %182 = extractelement <16 x i1> %116, i64 6
  br i1 %182, label %183, label %189
183:
  %184 = getelementptr inbounds nuw i8, ptr %122, i64 48
  %185 = load i64, ptr %184, align 8
  %186 = mul i64 %185, %16
  %187 = getelementptr inbounds nuw i8, ptr %100, i64 %186
  %188 = load i64, ptr %187, align 8
  br label %189
189:
  %190 = phi i64 [ %188, %183 ], [ 0, %179 ]
  %191 = insertelement <16 x i64> %181, i64 %190, i64 6
  %192 = extractelement <16 x i1> %116, i64 7
  br i1 %192, label %193, label %199
193:
  %194 = getelementptr inbounds nuw i8, ptr %122, i64 56
  %195 = load i64, ptr %194, align 8
  %196 = mul i64 %195, %16
  %197 = getelementptr inbounds nuw i8, ptr %100, i64 %196
  %198 = load i64, ptr %197, align 8
  br label %199
199:
  %200 = phi i64 [ %198, %193 ], [ 0, %189 ]
  %201 = insertelement <16 x i64> %191, i64 %200, i64 7
  %202 = extractelement <16 x i1> %116, i64 8
  br i1 %202, label %203, label %209
203:
  %204 = getelementptr inbounds nuw i8, ptr %122, i64 64
  %205 = load i64, ptr %204, align 8
  %206 = mul i64 %205, %16
  %207 = getelementptr inbounds nuw i8, ptr %100, i64 %206
  %208 = load i64, ptr %207, align 8
  br label %209
209:
  %210 = phi i64 [ %208, %203 ], [ 0, %199 ]
  %211 = insertelement <16 x i64> %201, i64 %210, i64 8
  %212 = extractelement <16 x i1> %116, i64 9
  br i1 %212, label %213, label %219
213:
  %214 = getelementptr inbounds nuw i8, ptr %122, i64 72
  %215 = load i64, ptr %214, align 8
  %216 = mul i64 %215, %16
  %217 = getelementptr inbounds nuw i8, ptr %100, i64 %216
  %218 = load i64, ptr %217, align 8
  br label %219
219:
  %220 = phi i64 [ %218, %213 ], [ 0, %209 ]
  %221 = insertelement <16 x i64> %211, i64 %220, i64 9
  %222 = extractelement <16 x i1> %116, i64 10
  br i1 %222, label %223, label %229
223:
  %224 = getelementptr inbounds nuw i8, ptr %122, i64 80
  %225 = load i64, ptr %224, align 8
  %226 = mul i64 %225, %16
  %227 = getelementptr inbounds nuw i8, ptr %100, i64 %226
  %228 = load i64, ptr %227, align 8
  br label %229
229:
  %230 = phi i64 [ %228, %223 ], [ 0, %219 ]
  %231 = insertelement <16 x i64> %221, i64 %230, i64 10
  %232 = extractelement <16 x i1> %116, i64 11
  br i1 %232, label %233, label %239
233:
  %234 = getelementptr inbounds nuw i8, ptr %122, i64 88
  %235 = load i64, ptr %234, align 8
  %236 = mul i64 %235, %16
  %237 = getelementptr inbounds nuw i8, ptr %100, i64 %236
  %238 = load i64, ptr %237, align 8
  br label %239
239:
  %240 = phi i64 [ %238, %233 ], [ 0, %229 ]
  %241 = insertelement <16 x i64> %231, i64 %240, i64 11
  %242 = extractelement <16 x i1> %116, i64 12
  br i1 %242, label %243, label %249
243:
  %244 = getelementptr inbounds nuw i8, ptr %122, i64 96
  %245 = load i64, ptr %244, align 8
  %246 = mul i64 %245, %16
  %247 = getelementptr inbounds nuw i8, ptr %100, i64 %246
  %248 = load i64, ptr %247, align 8
  br label %249
249:
  %250 = phi i64 [ %248, %243 ], [ 0, %239 ]
  %251 = insertelement <16 x i64> %241, i64 %250, i64 12
  %252 = extractelement <16 x i1> %116, i64 13
  br i1 %252, label %253, label %259
253:
  %254 = getelementptr inbounds nuw i8, ptr %122, i64 104
  %255 = load i64, ptr %254, align 8
  %256 = mul i64 %255, %16
  %257 = getelementptr inbounds nuw i8, ptr %100, i64 %256
  %258 = load i64, ptr %257, align 8
  br label %259
259:
  %260 = phi i64 [ %258, %253 ], [ 0, %249 ]
  %261 = insertelement <16 x i64> %251, i64 %260, i64 13
  %262 = extractelement <16 x i1> %116, i64 14
  br i1 %262, label %263, label %269
263:
  %264 = getelementptr inbounds nuw i8, ptr %122, i64 112
  %265 = load i64, ptr %264, align 8
  %266 = mul i64 %265, %16
  %267 = getelementptr inbounds nuw i8, ptr %100, i64 %266
  %268 = load i64, ptr %267, align 8
  br label %269
269:
  %270 = phi i64 [ %268, %263 ], [ 0, %259 ]
  %271 = insertelement <16 x i64> %261, i64 %270, i64 14
  %272 = extractelement <16 x i1> %116, i64 15
  br i1 %272, label %273, label %279
273:
  %274 = getelementptr inbounds nuw i8, ptr %122, i64 120
  %275 = load i64, ptr %274, align 8
  %276 = mul i64 %275, %16
  %277 = getelementptr inbounds nuw i8, ptr %100, i64 %276
  %278 = load i64, ptr %277, align 8
  br label %279
279:
  %280 = phi i64 [ %278, %273 ], [ 0, %269 ]
  %281 = insertelement <16 x i64> %271, i64 %280, i64 15
  %282 = bitcast i16 %118 to <16 x i1>
  %283 = shl nuw nsw <16 x i64> %121, splat (i64 9)
  %284 = lshr <16 x i64> %281, splat (i64 1)
  %285 = and <16 x i64> %284, splat (i64 73)
  %286 = select <16 x i1> %282, <16 x i64> %285, <16 x i64> zeroinitializer
  %287 = or <16 x i64> %286, %281
  %288 = or <16 x i64> %283, %74
  %289 = xor <16 x i64> %287, %288
  %290 = and <16 x i64> %281, splat (i64 16384)
  %291 = or <16 x i64> %289, %290
  %292 = icmp ugt <16 x i64> %289, splat (i64 140737488355327)
  %293 = select <16 x i1> %292, <16 x i64> %80, <16 x i64> zeroinitializer
  %294 = icmp ult <16 x i64> %289, splat (i64 2147483648)
  %295 = select <16 x i1> %294, <16 x i64> %84, <16 x i64> %293
  %296 = icmp ugt <16 x i64> %289, splat (i64 33554431)
  %297 = select <16 x i1> %296, <16 x i64> %295, <16 x i64> zeroinitializer
  %298 = icmp ult <16 x i64> %289, splat (i64 32768)
  %299 = select <16 x i1> %298, <16 x i64> %88, <16 x i64> %297
  %300 = icmp ugt <16 x i64> %291, splat (i64 511)
  %301 = select <16 x i1> %300, <16 x i64> %299, <16 x i64> zeroinitializer
  %302 = icmp eq <16 x i64> %287, zeroinitializer
  %303 = select <16 x i1> %302, <16 x i64> zeroinitializer, <16 x i64> %301
  %304 = select <16 x i1> %294, <16 x i64> splat (i64 504), <16 x i64> splat (i64 448)
  %305 = select <16 x i1> %298, <16 x i64> splat (i64 511), <16 x i64> %304
  %306 = and <16 x i64> %287, splat (i64 511)
  %307 = and <16 x i64> %306, %303
  %308 = and <16 x i64> %305, %287
  %309 = and <16 x i64> %303, splat (i64 -512)
  %310 = or <16 x i64> %91, %308
  %311 = or <16 x i64> %310, %309
  %312 = or <16 x i64> %311, %283
  store <16 x i64> %312, ptr %110, align 16
  %313 = select <16 x i1> %116, <16 x i64> %307, <16 x i64> zeroinitializer
  %314 = or <16 x i64> %313, %112
  br i1 %109, label %108, label %104
315:
  %316 = phi i32 [ %326, %315 ], [ %5, %104 ]
  %317 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %316, i1 true)
  %318 = zext nneg i32 %317 to i64
  %319 = getelementptr inbounds nuw i64, ptr %11, i64 %318
  %320 = load i64, ptr %319, align 8
  %321 = getelementptr inbounds nuw i64, ptr %13, i64 %318
  %322 = load i64, ptr %321, align 8
  %323 = mul i64 %322, %16
  %324 = getelementptr inbounds nuw i8, ptr %100, i64 %323
  store i64 %320, ptr %324, align 8
  %325 = add i32 %316, -1
  %326 = and i32 %325, %316
  %327 = icmp eq i32 %326, 0
  br i1 %327, label %107, label %315
328:
  %329 = select i1 %92, i32 %506, i32 %5
  %330 = icmp eq i32 %329, 0
  br i1 %330, label %520, label %507
331:
  %332 = phi i1 [ false, %497 ], [ true, %107 ]
  %333 = phi ptr [ %35, %497 ], [ %11, %107 ]
  %334 = phi i64 [ 16, %497 ], [ 0, %107 ]
  %335 = phi i32 [ %506, %497 ], [ %102, %107 ]
  %336 = trunc nuw nsw i64 %334 to i32
  %337 = lshr i32 %5, %336
  %338 = trunc i32 %337 to i16
  %339 = bitcast i16 %338 to <16 x i1>
  %340 = getelementptr inbounds nuw i64, ptr %13, i64 %334
  %341 = extractelement <16 x i1> %339, i64 0
  br i1 %341, label %342, label %347
342:
  %343 = load i64, ptr %340, align 8
  %344 = mul i64 %343, %16
  %345 = getelementptr inbounds nuw i8, ptr %100, i64 %344
  %346 = load i64, ptr %345, align 8
  br label %347
347:
  %348 = phi i64 [ %346, %342 ], [ 0, %331 ]
  %349 = insertelement <16 x i64> <i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %348, i64 0
  %350 = extractelement <16 x i1> %339, i64 1
  br i1 %350, label %351, label %357
351:
  %352 = getelementptr inbounds nuw i8, ptr %340, i64 8
  %353 = load i64, ptr %352, align 8
  %354 = mul i64 %353, %16
  %355 = getelementptr inbounds nuw i8, ptr %100, i64 %354
  %356 = load i64, ptr %355, align 8
  br label %357
357:
  %358 = phi i64 [ %356, %351 ], [ 0, %347 ]
  %359 = insertelement <16 x i64> %349, i64 %358, i64 1
  %360 = extractelement <16 x i1> %339, i64 2
  br i1 %360, label %361, label %367
361:
  %362 = getelementptr inbounds nuw i8, ptr %340, i64 16
  %363 = load i64, ptr %362, align 8
  %364 = mul i64 %363, %16
  %365 = getelementptr inbounds nuw i8, ptr %100, i64 %364
  %366 = load i64, ptr %365, align 8
  br label %367
367:
  %368 = phi i64 [ %366, %361 ], [ 0, %357 ]
  %369 = insertelement <16 x i64> %359, i64 %368, i64 2
  %370 = extractelement <16 x i1> %339, i64 3
  br i1 %370, label %371, label %377
371:
  %372 = getelementptr inbounds nuw i8, ptr %340, i64 24
  %373 = load i64, ptr %372, align 8
  %374 = mul i64 %373, %16
  %375 = getelementptr inbounds nuw i8, ptr %100, i64 %374
  %376 = load i64, ptr %375, align 8
  br label %377
377:
  %378 = phi i64 [ %376, %371 ], [ 0, %367 ]
  %379 = insertelement <16 x i64> %369, i64 %378, i64 3
  %380 = extractelement <16 x i1> %339, i64 4
  br i1 %380, label %381, label %387
381:
  %382 = getelementptr inbounds nuw i8, ptr %340, i64 32
  %383 = load i64, ptr %382, align 8
  %384 = mul i64 %383, %16
  %385 = getelementptr inbounds nuw i8, ptr %100, i64 %384
  %386 = load i64, ptr %385, align 8
  br label %387
387:
  %388 = phi i64 [ %386, %381 ], [ 0, %377 ]
  %389 = insertelement <16 x i64> %379, i64 %388, i64 4
  %390 = extractelement <16 x i1> %339, i64 5
  br i1 %390, label %391, label %397
391:
  %392 = getelementptr inbounds nuw i8, ptr %340, i64 40
  %393 = load i64, ptr %392, align 8
  %394 = mul i64 %393, %16
  %395 = getelementptr inbounds nuw i8, ptr %100, i64 %394
  %396 = load i64, ptr %395, align 8
  br label %397
397:
  %398 = phi i64 [ %396, %391 ], [ 0, %387 ]
  %399 = insertelement <16 x i64> %389, i64 %398, i64 5
  %400 = extractelement <16 x i1> %339, i64 6
  br i1 %400, label %401, label %407
401:
  %402 = getelementptr inbounds nuw i8, ptr %340, i64 48
  %403 = load i64, ptr %402, align 8
  %404 = mul i64 %403, %16
  %405 = getelementptr inbounds nuw i8, ptr %100, i64 %404
  %406 = load i64, ptr %405, align 8
  br label %407
407:
  %408 = phi i64 [ %406, %401 ], [ 0, %397 ]
  %409 = insertelement <16 x i64> %399, i64 %408, i64 6
  %410 = extractelement <16 x i1> %339, i64 7
  br i1 %410, label %411, label %417
411:
  %412 = getelementptr inbounds nuw i8, ptr %340, i64 56
  %413 = load i64, ptr %412, align 8
  %414 = mul i64 %413, %16
  %415 = getelementptr inbounds nuw i8, ptr %100, i64 %414
  %416 = load i64, ptr %415, align 8
  br label %417
417:
  %418 = phi i64 [ %416, %411 ], [ 0, %407 ]
  %419 = insertelement <16 x i64> %409, i64 %418, i64 7
  %420 = extractelement <16 x i1> %339, i64 8
  br i1 %420, label %421, label %427
421:
  %422 = getelementptr inbounds nuw i8, ptr %340, i64 64
  %423 = load i64, ptr %422, align 8
  %424 = mul i64 %423, %16
  %425 = getelementptr inbounds nuw i8, ptr %100, i64 %424
  %426 = load i64, ptr %425, align 8
  br label %427
427:
  %428 = phi i64 [ %426, %421 ], [ 0, %417 ]
  %429 = insertelement <16 x i64> %419, i64 %428, i64 8
  %430 = extractelement <16 x i1> %339, i64 9
  br i1 %430, label %431, label %437
431:
  %432 = getelementptr inbounds nuw i8, ptr %340, i64 72
  %433 = load i64, ptr %432, align 8
  %434 = mul i64 %433, %16
  %435 = getelementptr inbounds nuw i8, ptr %100, i64 %434
  %436 = load i64, ptr %435, align 8
  br label %437
437:
  %438 = phi i64 [ %436, %431 ], [ 0, %427 ]
  %439 = insertelement <16 x i64> %429, i64 %438, i64 9
  %440 = extractelement <16 x i1> %339, i64 10
  br i1 %440, label %441, label %447
441:
  %442 = getelementptr inbounds nuw i8, ptr %340, i64 80
  %443 = load i64, ptr %442, align 8
  %444 = mul i64 %443, %16
  %445 = getelementptr inbounds nuw i8, ptr %100, i64 %444
  %446 = load i64, ptr %445, align 8
  br label %447
447:
  %448 = phi i64 [ %446, %441 ], [ 0, %437 ]
  %449 = insertelement <16 x i64> %439, i64 %448, i64 10
  %450 = extractelement <16 x i1> %339, i64 11
  br i1 %450, label %451, label %457
451:
  %452 = getelementptr inbounds nuw i8, ptr %340, i64 88
  %453 = load i64, ptr %452, align 8
  %454 = mul i64 %453, %16
  %455 = getelementptr inbounds nuw i8, ptr %100, i64 %454
  %456 = load i64, ptr %455, align 8
  br label %457
457:
  %458 = phi i64 [ %456, %451 ], [ 0, %447 ]
  %459 = insertelement <16 x i64> %449, i64 %458, i64 11
  %460 = extractelement <16 x i1> %339, i64 12
  br i1 %460, label %461, label %467
461:
  %462 = getelementptr inbounds nuw i8, ptr %340, i64 96
  %463 = load i64, ptr %462, align 8
  %464 = mul i64 %463, %16
  %465 = getelementptr inbounds nuw i8, ptr %100, i64 %464
  %466 = load i64, ptr %465, align 8
  br label %467
467:
  %468 = phi i64 [ %466, %461 ], [ 0, %457 ]
  %469 = insertelement <16 x i64> %459, i64 %468, i64 12
  %470 = extractelement <16 x i1> %339, i64 13
  br i1 %470, label %471, label %477
471:
  %472 = getelementptr inbounds nuw i8, ptr %340, i64 104
  %473 = load i64, ptr %472, align 8
  %474 = mul i64 %473, %16
  %475 = getelementptr inbounds nuw i8, ptr %100, i64 %474
  %476 = load i64, ptr %475, align 8
  br label %477
477:
  %478 = phi i64 [ %476, %471 ], [ 0, %467 ]
  %479 = insertelement <16 x i64> %469, i64 %478, i64 13
  %480 = extractelement <16 x i1> %339, i64 14
  br i1 %480, label %481, label %487
481:
  %482 = getelementptr inbounds nuw i8, ptr %340, i64 112
  %483 = load i64, ptr %482, align 8
  %484 = mul i64 %483, %16
  %485 = getelementptr inbounds nuw i8, ptr %100, i64 %484
  %486 = load i64, ptr %485, align 8
  br label %487
487:
  %488 = phi i64 [ %486, %481 ], [ 0, %477 ]
  %489 = insertelement <16 x i64> %479, i64 %488, i64 14
  %490 = extractelement <16 x i1> %339, i64 15
  br i1 %490, label %491, label %497
491:
  %492 = getelementptr inbounds nuw i8, ptr %340, i64 120
  %493 = load i64, ptr %492, align 8
  %494 = mul i64 %493, %16
  %495 = getelementptr inbounds nuw i8, ptr %100, i64 %494
  %496 = load i64, ptr %495, align 8
  br label %497
497:
  %498 = phi i64 [ %496, %491 ], [ 0, %487 ]
  %499 = insertelement <16 x i64> %489, i64 %498, i64 15
  %500 = load <16 x i64>, ptr %333, align 16
  %501 = select <16 x i1> %339, <16 x i64> %500, <16 x i64> zeroinitializer
  %502 = icmp ne <16 x i64> %499, %501
  %503 = bitcast <16 x i1> %502 to i16
  %504 = zext i16 %503 to i32
  %505 = shl nuw i32 %504, %336
  %506 = or i32 %505, %335
  br i1 %332, label %331, label %328
507:
  %508 = phi i32 [ %518, %507 ], [ %329, %328 ]
  %509 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %508, i1 true)
  %510 = zext nneg i32 %509 to i64
  %511 = getelementptr inbounds nuw i64, ptr %13, i64 %510
  %512 = load i64, ptr %511, align 8
  %513 = mul i64 %512, %16
  %514 = getelementptr inbounds nuw i8, ptr %100, i64 %513
  %515 = load i64, ptr %514, align 8
  %516 = or i64 %515, 16384
  store i64 %516, ptr %514, align 8
  %517 = add i32 %508, -1
  %518 = and i32 %517, %508
  %519 = icmp eq i32 %518, 0
  br i1 %519, label %520, label %507
520:
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %11)
  %521 = add nuw i32 %103, 1
  %522 = getelementptr inbounds nuw i8, ptr %100, i64 8
  %523 = icmp ult i32 %521, %28
  br i1 %523, label %99, label %93
}

define internal void @check_equal(ptr %0, ptr %1, i32 %2, i32 %3) noinline #0 {
  %5 = icmp eq i32 %2, 0
  br i1 %5, label %45, label %6
6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 512
  %10 = icmp eq i32 %3, 0
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %12 = load i64, ptr %11, align 8
  %13 = zext i32 %3 to i64
  br label %14
14:
  %15 = phi i64 [ %12, %6 ], [ %41, %39 ]
  %16 = phi i32 [ %2, %6 ], [ %43, %39 ]
  %17 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %16, i1 true)
  %18 = mul i32 %17, %3
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds nuw i8, ptr %9, i64 %19
  %21 = zext nneg i32 %17 to i64
  %22 = getelementptr inbounds nuw i64, ptr %8, i64 %21
  %23 = load i64, ptr %22, align 8
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 %23
  br i1 %10, label %39, label %25
25:
  %26 = phi i64 [ %35, %25 ], [ 0, %14 ]
  %27 = phi i32 [ %34, %25 ], [ 0, %14 ]
  %28 = getelementptr inbounds nuw i8, ptr %24, i64 %26
  %29 = load i8, ptr %28, align 1
  %30 = getelementptr inbounds nuw i8, ptr %20, i64 %26
  %31 = load i8, ptr %30, align 1
  %32 = icmp ne i8 %29, %31
  %33 = zext i1 %32 to i32
  %34 = or i32 %27, %33
  %35 = add nuw nsw i64 %26, 1
  %36 = icmp eq i64 %35, %13
  br i1 %36, label %37, label %25
37:
  %38 = zext nneg i32 %34 to i64
  br label %39
39:
  %40 = phi i64 [ 0, %14 ], [ %38, %37 ]
  %41 = or i64 %15, %40
  store i64 %41, ptr %11, align 8
  %42 = add i32 %16, -1
  %43 = and i32 %42, %16
  %44 = icmp eq i32 %43, 0
  br i1 %44, label %45, label %14
45:
  ret void
}

define internal void @observe_loads(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, i64 %6, i32 %7, i32 %8, i32 %9) noinline #0 {
  %11 = alloca i64, align 8
  %12 = getelementptr inbounds nuw i8, ptr %4, i64 %6
  %13 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %16 = load ptr, ptr %15, align 8
  %17 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 116), align 4
  %18 = icmp eq i32 %17, 0
  %19 = icmp eq i32 %7, 2
  %20 = or i1 %19, %18
  %21 = icmp eq ptr %14, null
  %22 = select i1 %20, i1 true, i1 %21
  %23 = icmp eq i32 %5, 0
  %24 = or i1 %22, %23
  br i1 %24, label %45, label %25
25:
  %26 = getelementptr inbounds nuw i8, ptr %14, i64 %6
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %28 = load ptr, ptr %27, align 8
  %29 = zext i32 %9 to i64
  %30 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %31 = load i64, ptr %30, align 8
  br label %32
32:
  %33 = phi i64 [ %31, %25 ], [ %41, %32 ]
  %34 = phi i32 [ %5, %25 ], [ %43, %32 ]
  %35 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %34, i1 true)
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %11)
  store i64 0, ptr %11, align 8
  %36 = zext nneg i32 %35 to i64
  %37 = getelementptr inbounds nuw i64, ptr %28, i64 %36
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds nuw i8, ptr %26, i64 %38
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %11, ptr align 1 %39, i64 %29, i1 false)
  %40 = load i64, ptr %11, align 8
  %41 = or i64 %33, %40
  store i64 %41, ptr %30, align 8
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %11)
  %42 = add i32 %34, -1
  %43 = and i32 %42, %34
  %44 = icmp eq i32 %43, 0
  br i1 %44, label %45, label %32
45:
  %46 = icmp eq ptr %16, null
  br i1 %46, label %49, label %47
47:
  %48 = tail call i32 @record_accesses(ptr %0, ptr %1, i32 %2, ptr nonnull %16, ptr %12, i32 %5, i64 %6, i32 %9, i32 %7, i32 %8)
  br label %49
49:
  ret void
}

define internal void @observe_stores(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, i64 %6, i32 %7, i32 %8) noinline #0 {
  %10 = getelementptr inbounds nuw i8, ptr %4, i64 %6
  %11 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %12 = load ptr, ptr %11, align 8
  %13 = icmp eq ptr %12, null
  br i1 %13, label %16, label %14
14:
  %15 = tail call i32 @record_accesses(ptr %0, ptr %1, i32 %2, ptr nonnull %12, ptr %10, i32 %5, i64 %6, i32 %8, i32 2, i32 %7)
  br label %16
16:
  %17 = phi i32 [ %15, %14 ], [ 0, %9 ]
  tail call void @store_lanes(ptr %0, ptr %4, i32 %5, i64 %6, i32 %8)
  tail call void @check_equal(ptr %0, ptr %10, i32 %17, i32 %8)
  ret void
}
