; Written by `python -m tools.generate_runtime` from bf1a1e48102fccdaf93ba26928457d40b339ea0a53ca5f3395da8abb0023974e

declare <16 x i32> @llvm.sadd.sat.v16i32(<16 x i32>, <16 x i32>)

declare <16 x i32> @llvm.smax.v16i32(<16 x i32>, <16 x i32>)

declare <32 x i16> @llvm.smax.v32i16(<32 x i16>, <32 x i16>)

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

declare i32 @llvm.vector.reduce.or.v16i32(<16 x i32>)

declare i32 @llvm.vector.reduce.or.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.smax.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.smin.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.umax.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.umin.v32i32(<32 x i32>)

declare i32 @llvm.vector.reduce.xor.v32i32(<32 x i32>)

declare i64 @llvm.ctpop.i64(i64)

declare i64 @llvm.cttz.i64(i64, i1)

declare i64 @llvm.fshl.i64(i64, i64, i64)

declare i64 @llvm.umax.i64(i64, i64)

declare i64 @llvm.vector.reduce.or.v16i64(<16 x i64>)

declare i64 @llvm.vector.reduce.or.v32i64(<32 x i64>)

declare void @llvm.lifetime.end.p0(i64, ptr)

declare void @llvm.lifetime.start.p0(i64, ptr)

declare void @llvm.memcpy.p0.p0.i64(ptr noalias, ptr noalias, i64, i1)

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal range(i32 0, 2) i32 @check_lanes(ptr %0, i32 %1) noinline cold #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %3, align 8
  %5 = load <32 x i64>, ptr %4, align 8
  %6 = bitcast i32 %1 to <32 x i1>
  %7 = select <32 x i1> %6, <32 x i64> %5, <32 x i64> zeroinitializer
  %8 = tail call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %7)
  %9 = icmp eq i64 %8, 0
  %10 = zext i1 %9 to i32
  ret i32 %10
}

define internal range(i32 0, 2) i32 @check_access(ptr %0, ptr %1, ptr %2, i32 %3, i64 %4, i64 %5) noinline #0 {
  %7 = load <32 x i64>, ptr %2, align 8
  %8 = load i64, ptr %1, align 8
  %9 = insertelement <32 x i64> poison, i64 %8, i64 0
  %10 = shufflevector <32 x i64> %9, <32 x i64> poison, <32 x i32> zeroinitializer
  %11 = sub <32 x i64> %7, %10
  %12 = icmp eq i64 %5, 0
  br i1 %12, label %41, label %13
13:
  %14 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %15 = load i64, ptr %14, align 8
  %16 = add i64 %5, -1
  %17 = icmp eq i64 %15, 0
  %18 = shl i64 %16, 24
  %19 = select i1 %17, i64 0, i64 %18
  %20 = insertelement <32 x i64> poison, i64 %19, i64 0
  %21 = shufflevector <32 x i64> %20, <32 x i64> poison, <32 x i32> zeroinitializer
  %22 = add <32 x i64> %21, %11
  %23 = select i1 %17, i64 -1, i64 16777215
  %24 = insertelement <32 x i64> poison, i64 %23, i64 0
  %25 = shufflevector <32 x i64> %24, <32 x i64> poison, <32 x i32> zeroinitializer
  %26 = and <32 x i64> %22, %25
  %27 = xor <32 x i64> %26, %22
  %28 = lshr <32 x i64> %27, splat (i64 24)
  %29 = insertelement <32 x i64> poison, i64 %16, i64 0
  %30 = shufflevector <32 x i64> %29, <32 x i64> poison, <32 x i32> zeroinitializer
  %31 = sub <32 x i64> %28, %30
  %32 = insertelement <32 x i64> poison, i64 %15, i64 0
  %33 = shufflevector <32 x i64> %32, <32 x i64> poison, <32 x i32> zeroinitializer
  %34 = mul <32 x i64> %31, %33
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %36 = load i64, ptr %35, align 8
  %37 = add i64 %36, -1
  %38 = insertelement <32 x i64> poison, i64 %37, i64 0
  %39 = shufflevector <32 x i64> %38, <32 x i64> poison, <32 x i32> zeroinitializer
  %40 = sub <32 x i64> %39, %28
  br label %41
41:
  %42 = phi <32 x i64> [ %40, %13 ], [ zeroinitializer, %6 ]
  %43 = phi <32 x i64> [ %34, %13 ], [ zeroinitializer, %6 ]
  %44 = phi <32 x i64> [ %26, %13 ], [ %11, %6 ]
  %45 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %46 = load i64, ptr %45, align 8
  %47 = add i64 %46, -1
  %48 = insertelement <32 x i64> poison, i64 %47, i64 0
  %49 = shufflevector <32 x i64> %48, <32 x i64> poison, <32 x i32> zeroinitializer
  %50 = sub <32 x i64> %49, %44
  %51 = or <32 x i64> %50, %42
  %52 = add <32 x i64> %44, %43
  store <32 x i64> %52, ptr %2, align 8
  %53 = tail call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %44)
  %54 = add i64 %4, -1
  %55 = and i64 %53, %54
  %56 = tail call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %51)
  %57 = or i64 %56, %53
  %58 = and i64 %57, -9223372036854775808
  %59 = or i64 %58, %55
  %60 = icmp eq i64 %59, 0
  br i1 %60, label %71, label %61, !prof !{!"branch_weights", !"expected", i32 2000, i32 1}
61:
  %62 = and <32 x i64> %51, splat (i64 -9223372036854775808)
  %63 = or i64 %54, -9223372036854775808
  %64 = insertelement <32 x i64> poison, i64 %63, i64 0
  %65 = shufflevector <32 x i64> %64, <32 x i64> poison, <32 x i32> zeroinitializer
  %66 = and <32 x i64> %44, %65
  %67 = or <32 x i64> %62, %66
  %68 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %69 = load ptr, ptr %68, align 8
  store <32 x i64> %67, ptr %69, align 8
  %70 = tail call i32 @check_lanes(ptr %0, i32 %3)
  br label %71
71:
  %72 = phi i32 [ %70, %61 ], [ 1, %41 ]
  ret i32 %72
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
  %6 = alloca i64, align 8
  %7 = icmp eq i32 %2, 0
  br i1 %7, label %36, label %8
8:
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = icmp eq i32 %4, 0
  %11 = getelementptr i8, ptr %1, i64 %3
  br label %12
12:
  %13 = phi i32 [ %2, %8 ], [ %34, %32 ]
  br i1 %10, label %32, label %14
14:
  %15 = load ptr, ptr %9, align 8
  %16 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %13, i1 true)
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i64, ptr %15, i64 %17
  %19 = load i64, ptr %18, align 8
  %20 = getelementptr i8, ptr %11, i64 %19
  br label %21
21:
  %22 = phi i32 [ 0, %14 ], [ %30, %21 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6)
  store i64 0, ptr %6, align 8
  %23 = sub nuw i32 %4, %22
  %24 = tail call i32 @llvm.umin.i32(i32 %23, i32 8)
  %25 = zext nneg i32 %24 to i64
  %26 = zext i32 %22 to i64
  %27 = getelementptr inbounds nuw i8, ptr %20, i64 %26
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %6, ptr align 1 %27, i64 %25, i1 false)
  %28 = load i64, ptr %6, align 8
  %29 = and i64 %28, 144680345676153346
  store i64 %29, ptr %6, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %27, ptr nonnull align 8 %6, i64 %25, i1 false)
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6)
  %30 = add i32 %22, 8
  %31 = icmp ult i32 %30, %4
  br i1 %31, label %21, label %32
32:
  %33 = add i32 %13, -1
  %34 = and i32 %33, %13
  %35 = icmp eq i32 %34, 0
  br i1 %35, label %36, label %12
36:
  ret void
}

define internal void @note_range(ptr %0, ptr %1, i64 %2, i32 %3) noinline #0 {
  %5 = alloca i64, align 8
  %6 = icmp eq i32 %3, 0
  br i1 %6, label %9, label %7
7:
  %8 = getelementptr inbounds nuw i8, ptr %1, i64 %2
  br label %10
9:
  ret void
10:
  %11 = phi i32 [ 0, %7 ], [ %32, %31 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5)
  store i64 0, ptr %5, align 8
  %12 = sub nuw i32 %3, %11
  %13 = tail call i32 @llvm.umin.i32(i32 %12, i32 8)
  %14 = zext nneg i32 %13 to i64
  %15 = zext i32 %11 to i64
  %16 = getelementptr inbounds nuw i8, ptr %8, i64 %15
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %5, ptr align 1 %16, i64 %14, i1 false)
  %17 = load i64, ptr %5, align 8
  %18 = and i64 %17, 72340172838076673
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %31, label %20
20:
  %21 = phi i64 [ %29, %28 ], [ 0, %10 ]
  %22 = getelementptr inbounds nuw i8, ptr %16, i64 %21
  %23 = load i8, ptr %22, align 1
  %24 = and i8 %23, 1
  %25 = icmp eq i8 %24, 0
  br i1 %25, label %28, label %26
26:
  %27 = atomicrmw or ptr %22, i8 2 monotonic, align 1
  br label %28
28:
  %29 = add nuw nsw i64 %21, 1
  %30 = icmp samesign ult i64 %29, %14
  br i1 %30, label %20, label %31
31:
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5)
  %32 = add i32 %11, 8
  %33 = icmp ult i32 %32, %3
  br i1 %33, label %10, label %9
}

define internal void @note_lanes(ptr %0, ptr %1, i32 %2, i64 %3, i32 %4) noinline #0 {
  %6 = icmp eq i32 %2, 0
  br i1 %6, label %20, label %7
7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %9
9:
  %10 = phi i32 [ %2, %7 ], [ %18, %9 ]
  %11 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %10, i1 true)
  %12 = load ptr, ptr %8, align 8
  %13 = zext nneg i32 %11 to i64
  %14 = getelementptr inbounds nuw i64, ptr %12, i64 %13
  %15 = load i64, ptr %14, align 8
  %16 = add i64 %15, %3
  tail call void @note_range(ptr poison, ptr %1, i64 %16, i32 %4)
  %17 = add i32 %10, -1
  %18 = and i32 %17, %10
  %19 = icmp eq i32 %18, 0
  br i1 %19, label %20, label %9
20:
  ret void
}

define internal void @mark_frames(ptr %0, i32 %1, i32 %2, i64 %3, i64 %4) noinline #0 {
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %29, label %8
8:
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds nuw i8, ptr %10, i64 %3
  %12 = sub i64 0, %4
  %13 = getelementptr inbounds i8, ptr %11, i64 %12
  %14 = icmp eq i32 %2, 0
  br i1 %14, label %29, label %15
15:
  %16 = shl i32 %1, 5
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 152
  br label %18
18:
  %19 = phi i32 [ %2, %15 ], [ %27, %18 ]
  %20 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %19, i1 true)
  %21 = or disjoint i32 %20, %16
  %22 = zext i32 %21 to i64
  %23 = load i64, ptr %17, align 8
  %24 = mul i64 %23, %22
  %25 = getelementptr inbounds nuw i8, ptr %13, i64 %24
  tail call void @llvm.memset.p0.i64(ptr align 1 %25, i8 1, i64 %4, i1 false)
  %26 = add i32 %19, -1
  %27 = and i32 %26, %19
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %29, label %18
29:
  ret void
}

define internal void @begin_copies(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, i32 %6, i32 %7) noinline #0 {
  %9 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %10 = udiv i32 8, %9
  %11 = zext nneg i32 %10 to i64
  %12 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %13 = load i32, ptr %12, align 4
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %16 = load i64, ptr %15, align 8
  %17 = xor i64 %16, %14
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %19 = load i64, ptr %18, align 8
  %20 = or i64 %19, %17
  store i64 %20, ptr %18, align 8
  %21 = zext i32 %2 to i64
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %25 = load i64, ptr %24, align 8
  %26 = mul i64 %25, %21
  %27 = getelementptr inbounds nuw i8, ptr %23, i64 %26
  %28 = getelementptr inbounds nuw i8, ptr %27, i64 128
  %29 = icmp eq i32 %5, 0
  br i1 %29, label %153, label %30
30:
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 224
  %32 = load i64, ptr %31, align 8
  %33 = shl nuw nsw i64 %21, 25
  %34 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %35 = load i32, ptr %34, align 4
  %36 = zext i32 %35 to i64
  %37 = shl nuw nsw i64 %36, 15
  %38 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %39 = load i64, ptr %38, align 8
  %40 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %41 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %42 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %44 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %45 = zext i32 %7 to i64
  %46 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %47 = add nsw i64 %45, -1
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %49 = getelementptr inbounds nuw i8, ptr %4, i64 64
  %50 = or i64 %39, %33
  %51 = or i64 %50, %37
  %52 = udiv i32 %7, %9
  %53 = icmp ugt i32 %9, %7
  %54 = icmp ule i32 %9, %7
  %55 = getelementptr inbounds nuw i8, ptr %1, i64 52
  %56 = lshr i64 %32, 3
  %57 = shl i32 %7, 8
  %58 = zext i32 %57 to i64
  %59 = zext i32 %52 to i64
  br label %60
60:
  %61 = phi i32 [ %5, %30 ], [ %179, %177 ]
  %62 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %61, i1 true)
  %63 = load ptr, ptr %40, align 8
  %64 = load ptr, ptr %41, align 8
  %65 = zext nneg i32 %62 to i64
  %66 = getelementptr inbounds nuw i64, ptr %64, i64 %65
  %67 = load i64, ptr %66, align 8
  %68 = mul i64 %67, %11
  %69 = getelementptr inbounds nuw i8, ptr %63, i64 %68
  %70 = load ptr, ptr %42, align 8
  %71 = getelementptr inbounds nuw i8, ptr %70, i64 %67
  %72 = load ptr, ptr %43, align 8
  %73 = ptrtoint ptr %71 to i64
  %74 = ptrtoint ptr %72 to i64
  %75 = sub i64 %73, %74
  %76 = load i64, ptr %44, align 8
  %77 = icmp ult i64 %75, %76
  br i1 %77, label %78, label %99
78:
  %79 = load i32, ptr %46, align 4
  %80 = or i32 %79, 1
  store i32 %80, ptr %46, align 4
  %81 = add i64 %47, %75
  %82 = trunc i64 %76 to i32
  %83 = add i32 %82, -1
  %84 = lshr i32 %83, 6
  %85 = or i32 %84, 15
  %86 = tail call range(i32 6, 29) i32 @llvm.ctlz.i32(i32 %85, i1 true)
  %87 = sub nuw nsw i32 32, %86
  %88 = zext nneg i32 %87 to i64
  %89 = lshr i64 %81, %88
  %90 = shl i64 2, %89
  %91 = lshr i64 %75, %88
  %92 = shl nsw i64 -1, %91
  %93 = add i64 %92, %90
  %94 = load i64, ptr %48, align 8
  %95 = and i64 %94, %93
  %96 = load i64, ptr %18, align 8
  %97 = or i64 %96, %95
  store i64 %97, ptr %18, align 8
  %98 = load ptr, ptr %41, align 8
  br label %99
99:
  %100 = phi ptr [ %64, %60 ], [ %98, %78 ]
  %101 = load ptr, ptr %49, align 8
  %102 = getelementptr inbounds nuw i8, ptr %100, i64 512
  %103 = getelementptr inbounds nuw i64, ptr %102, i64 %65
  %104 = load i64, ptr %103, align 8
  %105 = mul i64 %104, %11
  %106 = getelementptr inbounds nuw i8, ptr %101, i64 %105
  %107 = shl nuw nsw i64 %65, 9
  %108 = or i64 %51, %107
  br i1 %53, label %143, label %109
109:
  %110 = phi i64 [ %138, %109 ], [ 0, %99 ]
  %111 = phi i64 [ %137, %109 ], [ 0, %99 ]
  %112 = getelementptr inbounds nuw i64, ptr %69, i64 %110
  %113 = load i64, ptr %112, align 8
  %114 = xor i64 %113, %108
  %115 = icmp ult i64 %114, 140737488355328
  %116 = select i1 %115, i64 0, i64 -140737488354880
  %117 = icmp ult i64 %114, 2147483648
  %118 = select i1 %117, i64 1073741880, i64 %116
  %119 = icmp ult i64 %114, 32768
  %120 = icmp ult i64 %114, 33554432
  %121 = select i1 %120, i64 0, i64 %118
  %122 = select i1 %119, i64 16391, i64 %121
  %123 = and i64 %113, 16384
  %124 = or i64 %114, %123
  %125 = icmp ult i64 %124, 512
  %126 = icmp eq i64 %113, 0
  %127 = or i1 %126, %125
  %128 = select i1 %127, i64 0, i64 %122
  %129 = select i1 %117, i64 504, i64 448
  %130 = select i1 %119, i64 511, i64 %129
  %131 = and i64 %113, 511
  %132 = and i64 %131, %128
  %133 = and i64 %130, %113
  %134 = and i64 %128, -140736414597120
  %135 = or disjoint i64 %133, %134
  %136 = or i64 %135, %108
  store i64 %136, ptr %112, align 8
  %137 = or i64 %132, %111
  %138 = add nuw nsw i64 %110, 1
  %139 = icmp samesign ult i64 %138, %59
  br i1 %139, label %109, label %140
140:
  %141 = load i64, ptr %18, align 8
  %142 = or i64 %141, %137
  store i64 %142, ptr %18, align 8
  br label %148
143:
  %144 = shl nuw i32 1, %62
  %145 = and i32 %144, %6
  %146 = icmp ne i32 %145, 0
  %147 = and i1 %146, %54
  br i1 %147, label %158, label %154
148:
  %149 = phi i64 [ %151, %148 ], [ 0, %140 ]
  %150 = getelementptr inbounds nuw i64, ptr %69, i64 %149
  store i64 -140736414596901, ptr %150, align 8
  %151 = add nuw nsw i64 %149, 1
  %152 = icmp samesign ult i64 %151, %59
  br i1 %152, label %148, label %143
153:
  ret void
154:
  %155 = load i32, ptr %55, align 4
  %156 = zext i32 %155 to i64
  %157 = icmp samesign ugt i64 %56, %156
  br i1 %157, label %165, label %177
158:
  %159 = phi i64 [ %163, %158 ], [ 0, %143 ]
  %160 = getelementptr inbounds nuw i64, ptr %106, i64 %159
  %161 = load i64, ptr %160, align 8
  %162 = or i64 %161, -140736414597120
  store i64 %162, ptr %160, align 8
  %163 = add nuw nsw i64 %159, 1
  %164 = icmp samesign ult i64 %163, %59
  br i1 %164, label %158, label %154
165:
  %166 = ptrtoint ptr %69 to i64
  %167 = insertelement <2 x i64> poison, i64 %166, i64 0
  %168 = getelementptr inbounds nuw i32, ptr %27, i64 %65
  %169 = load i32, ptr %168, align 4
  %170 = zext i32 %169 to i64
  %171 = shl nuw i64 %170, 32
  %172 = or disjoint i64 %171, %58
  %173 = or disjoint i64 %172, %65
  %174 = insertelement <2 x i64> %167, i64 %173, i64 1
  %175 = add i32 %155, 1
  store i32 %175, ptr %55, align 4
  %176 = getelementptr inbounds nuw <2 x i64>, ptr %28, i64 %156
  store <2 x i64> %174, ptr %176, align 8
  br label %177
177:
  %178 = add i32 %61, -1
  %179 = and i32 %178, %61
  %180 = icmp eq i32 %179, 0
  br i1 %180, label %153, label %60
}

define internal void @commit_copies(ptr %0, i32 %1, i32 %2) noinline #0 {
  %4 = bitcast i32 %2 to <32 x i1>
  %5 = zext <32 x i1> %4 to <32 x i32>
  %6 = zext i32 %1 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %10 = load i64, ptr %9, align 8
  %11 = mul i64 %10, %6
  %12 = getelementptr inbounds nuw i8, ptr %8, i64 %11
  %13 = load <32 x i32>, ptr %12, align 4
  %14 = add <32 x i32> %13, %5
  store <32 x i32> %14, ptr %12, align 4
  ret void
}

define internal void @complete_copies(ptr %0, ptr %1, i32 %2, i32 %3, i32 %4) noinline #0 {
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %7 = load i32, ptr %6, align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %10 = load i64, ptr %9, align 8
  %11 = xor i64 %10, %8
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %13 = load i64, ptr %12, align 8
  %14 = or i64 %13, %11
  store i64 %14, ptr %12, align 8
  %15 = zext i32 %2 to i64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %17 = load ptr, ptr %16, align 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %19 = load i64, ptr %18, align 8
  %20 = mul i64 %19, %15
  %21 = getelementptr inbounds nuw i8, ptr %17, i64 %20
  %22 = getelementptr inbounds nuw i8, ptr %21, i64 128
  %23 = getelementptr inbounds nuw i8, ptr %1, i64 52
  %24 = load i32, ptr %23, align 4
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %39, label %26
26:
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = shl nuw nsw i64 %31, 15
  %33 = or i64 %28, %32
  %34 = shl nuw nsw i64 %15, 25
  %35 = or i64 %34, %33
  %36 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %37 = or i64 %35, 219
  %38 = trunc i32 %36 to i8
  br label %44
39:
  %40 = phi i32 [ 0, %5 ], [ %85, %84 ]
  store i32 %40, ptr %23, align 4
  %41 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %42 = load i32, ptr %41, align 4
  %43 = or i32 %42, 1
  store i32 %43, ptr %41, align 4
  ret void
44:
  %45 = phi i64 [ 0, %26 ], [ %86, %84 ]
  %46 = phi i32 [ 0, %26 ], [ %85, %84 ]
  %47 = getelementptr inbounds nuw <2 x i64>, ptr %22, i64 %45
  %48 = load <2 x i64>, ptr %47, align 8
  %49 = extractelement <2 x i64> %48, i64 1
  %50 = and i64 %49, 31
  %51 = trunc nuw nsw i64 %50 to i32
  %52 = shl nuw i32 1, %51
  %53 = and i32 %52, %3
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %62, label %55
55:
  %56 = getelementptr inbounds nuw i32, ptr %21, i64 %50
  %57 = load i32, ptr %56, align 4
  %58 = bitcast <2 x i64> %48 to <4 x i32>
  %59 = extractelement <4 x i32> %58, i64 3
  %60 = sub i32 %57, %59
  %61 = icmp sgt i32 %60, %4
  br i1 %61, label %66, label %62
62:
  %63 = add i32 %46, 1
  %64 = zext i32 %46 to i64
  %65 = getelementptr inbounds nuw <2 x i64>, ptr %22, i64 %64
  store <2 x i64> %48, ptr %65, align 8
  br label %84
66:
  %67 = extractelement <2 x i64> %48, i64 0
  %68 = inttoptr i64 %67 to ptr
  %69 = trunc i64 %49 to i32
  %70 = lshr i32 %69, 8
  %71 = and i32 %70, 255
  %72 = shl nuw nsw i64 %50, 9
  %73 = or i64 %72, %37
  %74 = icmp ugt i32 %36, %71
  br i1 %74, label %84, label %75
75:
  %76 = trunc i32 %70 to i8
  %77 = udiv i8 %76, %38
  %78 = zext i8 %77 to i64
  br label %79
79:
  %80 = phi i64 [ 0, %75 ], [ %82, %79 ]
  %81 = getelementptr inbounds nuw i64, ptr %68, i64 %80
  store i64 %73, ptr %81, align 8
  %82 = add nuw nsw i64 %80, 1
  %83 = icmp samesign ult i64 %82, %78
  br i1 %83, label %79, label %84
84:
  %85 = phi i32 [ %63, %62 ], [ %46, %66 ], [ %46, %79 ]
  %86 = add nuw nsw i64 %45, 1
  %87 = load i32, ptr %23, align 4
  %88 = zext i32 %87 to i64
  %89 = icmp samesign ult i64 %86, %88
  br i1 %89, label %44, label %39
}

define internal void @read_chunk(ptr %0, i32 %1, i32 %2, i64 %3) noinline #0 {
  %5 = zext i32 %1 to i64
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %7 = load ptr, ptr %6, align 8
  %8 = load i32, ptr @kernel, align 4
  %9 = zext i32 %8 to i64
  %10 = mul nuw i64 %9, %5
  %11 = getelementptr inbounds nuw i8, ptr %7, i64 %10
  %12 = getelementptr inbounds nuw i8, ptr %11, i64 60
  %13 = load i32, ptr %12, align 4
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %16 = load i64, ptr %15, align 8
  %17 = xor i64 %16, %14
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %19 = load i64, ptr %18, align 8
  %20 = or i64 %19, %17
  store i64 %20, ptr %18, align 8
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %22 = load i64, ptr %21, align 8
  %23 = getelementptr inbounds nuw i8, ptr %11, i64 20
  %24 = load i32, ptr %23, align 4
  %25 = zext i32 %24 to i64
  %26 = shl nuw nsw i64 %25, 15
  %27 = shl nuw nsw i64 %5, 25
  %28 = or i64 %27, %22
  %29 = or i64 %28, %26
  %30 = or i64 %29, 16384
  %31 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %32 = load i64, ptr %31, align 8
  %33 = trunc i64 %32 to i32
  %34 = add i32 %33, -1
  %35 = lshr i32 %34, 6
  %36 = or i32 %35, 15
  %37 = tail call range(i32 6, 29) i32 @llvm.ctlz.i32(i32 %36, i1 true)
  %38 = sub nuw nsw i32 32, %37
  %39 = zext nneg i32 %38 to i64
  %40 = lshr i64 %3, %39
  %41 = shl nuw i64 1, %40
  %42 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %43 = mul i32 %2, 40
  %44 = add i32 %42, %43
  %45 = zext i32 %44 to i64
  %46 = getelementptr inbounds nuw i8, ptr %11, i64 %45
  %47 = load i64, ptr %46, align 8
  %48 = or i64 %41, %47
  store i64 %48, ptr %46, align 8
  %49 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %50 = load i64, ptr %49, align 8
  %51 = or i64 %41, %50
  store i64 %51, ptr %49, align 8
  %52 = getelementptr inbounds nuw i8, ptr %11, i64 56
  %53 = load i32, ptr %52, align 4
  %54 = zext i32 %53 to i64
  %55 = load i64, ptr %18, align 8
  %56 = or i64 %55, %54
  store i64 %56, ptr %18, align 8
  %57 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %58 = load ptr, ptr %57, align 8
  %59 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %60 = zext i32 %59 to i64
  %61 = udiv i64 %3, %60
  %62 = getelementptr inbounds nuw i64, ptr %58, i64 %61
  %63 = icmp ugt i32 %59, 16
  br i1 %63, label %102, label %64
64:
  %65 = trunc nuw i32 %59 to i8
  %66 = udiv i8 16, %65
  %67 = zext nneg i8 %66 to i64
  %68 = or i64 %29, 16457
  br label %69
69:
  %70 = phi i64 [ 0, %64 ], [ %98, %69 ]
  %71 = phi i64 [ 0, %64 ], [ %97, %69 ]
  %72 = getelementptr inbounds nuw i64, ptr %62, i64 %70
  %73 = load i64, ptr %72, align 8
  %74 = xor i64 %73, %30
  %75 = icmp ult i64 %74, 140737488355328
  %76 = select i1 %75, i64 0, i64 -140737488354944
  %77 = icmp ult i64 %74, 2147483648
  %78 = select i1 %77, i64 1073741872, i64 %76
  %79 = icmp ult i64 %74, 32768
  %80 = icmp ult i64 %74, 33554432
  %81 = select i1 %80, i64 0, i64 %78
  %82 = select i1 %79, i64 16390, i64 %81
  %83 = and i64 %73, 16384
  %84 = or i64 %74, %83
  %85 = icmp ult i64 %84, 512
  %86 = icmp eq i64 %73, 0
  %87 = or i1 %86, %85
  %88 = select i1 %87, i64 0, i64 %82
  %89 = select i1 %77, i64 432, i64 384
  %90 = select i1 %79, i64 438, i64 %89
  %91 = and i64 %73, 438
  %92 = and i64 %91, %88
  %93 = and i64 %90, %73
  %94 = and i64 %88, -140736414613504
  %95 = or disjoint i64 %93, %94
  %96 = or i64 %95, %68
  store i64 %96, ptr %72, align 8
  %97 = or i64 %92, %71
  %98 = add nuw nsw i64 %70, 1
  %99 = icmp samesign ult i64 %98, %67
  br i1 %99, label %69, label %100
100:
  %101 = load i64, ptr %18, align 8
  br label %102
102:
  %103 = phi i64 [ %56, %4 ], [ %101, %100 ]
  %104 = phi i64 [ 0, %4 ], [ %97, %100 ]
  %105 = or i64 %103, %104
  store i64 %105, ptr %18, align 8
  %106 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %107 = load ptr, ptr %106, align 8
  %108 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %109 = load i64, ptr %108, align 8
  %110 = sub i64 %3, %109
  %111 = getelementptr inbounds nuw i8, ptr %107, i64 %110
  %112 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %113 = icmp ne i32 %112, 0
  %114 = icmp ne ptr %107, null
  %115 = and i1 %114, %113
  br i1 %115, label %116, label %128
116:
  %117 = phi i64 [ %124, %116 ], [ 0, %102 ]
  %118 = phi i32 [ %123, %116 ], [ 0, %102 ]
  %119 = getelementptr inbounds nuw i8, ptr %111, i64 %117
  %120 = load i8, ptr %119, align 1
  %121 = icmp ne i8 %120, 0
  %122 = zext i1 %121 to i32
  %123 = or i32 %118, %122
  %124 = add nuw nsw i64 %117, 1
  %125 = icmp eq i64 %124, 16
  br i1 %125, label %126, label %116
126:
  %127 = zext nneg i32 %123 to i64
  br label %128
128:
  %129 = phi i64 [ 0, %102 ], [ %127, %126 ]
  %130 = or i64 %105, %129
  store i64 %130, ptr %18, align 8
  ret void
}

define internal void @commit_reads(ptr %0, i32 %1, i32 %2) noinline #0 {
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %5 = mul i32 %1, 40
  %6 = add i32 %4, %5
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 %7
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 32
  %10 = load i64, ptr %9, align 8
  %11 = zext i32 %2 to i64
  %12 = xor i64 %11, -1
  %13 = and i64 %10, %12
  %14 = icmp eq i64 %13, 0
  br i1 %14, label %15, label %30
15:
  %16 = getelementptr inbounds nuw i8, ptr %8, i64 16
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %19 = load i64, ptr %18, align 8
  %20 = or i64 %19, %17
  store i64 %20, ptr %18, align 8
  %21 = getelementptr i8, ptr %8, i64 -8
  br label %23
22:
  store i64 0, ptr %8, align 8
  br label %30
23:
  %24 = phi i64 [ 2, %15 ], [ %28, %23 ]
  %25 = getelementptr i64, ptr %21, i64 %24
  %26 = load i64, ptr %25, align 8
  %27 = getelementptr inbounds nuw i64, ptr %8, i64 %24
  store i64 %26, ptr %27, align 8
  %28 = add nsw i64 %24, -1
  %29 = icmp eq i64 %28, 0
  br i1 %29, label %22, label %23
30:
  ret void
}

define internal void @complete_reads(ptr %0, i32 %1, i32 %2, i32 %3) noinline #0 {
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %6 = mul i32 %1, 40
  %7 = add i32 %5, %6
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 %8
  %10 = getelementptr inbounds nuw i8, ptr %9, i64 32
  %11 = zext i32 %2 to i64
  %12 = xor i64 %11, -1
  %13 = add i32 %3, 1
  %14 = load i64, ptr %10, align 8
  %15 = and i64 %14, %12
  %16 = icmp eq i64 %15, 0
  %17 = icmp ult i32 %13, 4
  %18 = and i1 %16, %17
  br i1 %18, label %19, label %21
19:
  %20 = zext nneg i32 %13 to i64
  br label %22
21:
  ret void
22:
  %23 = phi i64 [ %20, %19 ], [ %25, %22 ]
  %24 = getelementptr inbounds nuw i64, ptr %9, i64 %23
  store i64 0, ptr %24, align 8
  %25 = add nuw nsw i64 %23, 1
  %26 = load i64, ptr %10, align 8
  %27 = and i64 %26, %12
  %28 = icmp eq i64 %27, 0
  %29 = icmp samesign ult i64 %23, 3
  %30 = and i1 %28, %29
  br i1 %30, label %22, label %21
}

define internal void @fence_proxy(ptr %0, i32 %1) noinline #0 {
  %3 = icmp eq i32 %1, -1
  br i1 %3, label %4, label %6
4:
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 56
  store i32 0, ptr %5, align 4
  br label %6
6:
  ret void
}

define internal void @order_proxies(ptr %0) noinline #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %3 = load i64, ptr %2, align 8
  %4 = icmp eq i64 %3, 0
  br i1 %4, label %44, label %5
5:
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %7 = load ptr, ptr %6, align 8
  %8 = load i32, ptr @kernel, align 4
  %9 = zext i32 %8 to i64
  %10 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  br label %16
11:
  %12 = icmp eq i32 %26, 0
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %14 = load i32, ptr @kernel, align 4
  %15 = zext i32 %14 to i64
  br label %48
16:
  %17 = phi i64 [ 0, %5 ], [ %41, %25 ]
  %18 = phi i64 [ 0, %5 ], [ %27, %25 ]
  %19 = phi i32 [ 0, %5 ], [ %26, %25 ]
  %20 = mul i64 %18, %9
  %21 = getelementptr inbounds nuw i8, ptr %7, i64 %20
  %22 = getelementptr inbounds nuw i8, ptr %21, i64 56
  %23 = load i32, ptr %22, align 4
  %24 = and i32 %23, 1
  br label %29
25:
  %26 = or i32 %24, %19
  %27 = add nuw i64 %18, 1
  %28 = icmp eq i64 %27, %3
  br i1 %28, label %11, label %16
29:
  %30 = phi i64 [ %17, %16 ], [ %41, %29 ]
  %31 = phi i32 [ 0, %16 ], [ %42, %29 ]
  %32 = lshr i32 %31, 2
  %33 = mul nuw nsw i32 %32, 40
  %34 = add i32 %10, %33
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds nuw i8, ptr %21, i64 %35
  %37 = and i32 %31, 3
  %38 = zext nneg i32 %37 to i64
  %39 = getelementptr inbounds nuw i64, ptr %36, i64 %38
  %40 = load i64, ptr %39, align 8
  %41 = or i64 %40, %30
  %42 = add nuw nsw i32 %31, 1
  %43 = icmp eq i32 %42, 8
  br i1 %43, label %25, label %29
44:
  %45 = phi i64 [ 0, %1 ], [ %41, %57 ]
  %46 = getelementptr inbounds nuw i8, ptr %0, i64 344
  store i64 %45, ptr %46, align 8
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 360
  store i64 0, ptr %47, align 8
  ret void
48:
  %49 = phi i64 [ 0, %11 ], [ %62, %57 ]
  %50 = load ptr, ptr %13, align 8
  %51 = mul i64 %49, %15
  %52 = getelementptr inbounds nuw i8, ptr %50, i64 %51
  %53 = getelementptr inbounds nuw i8, ptr %52, i64 56
  br i1 %12, label %57, label %54
54:
  %55 = load i32, ptr %53, align 4
  %56 = or i32 %55, 2
  br label %57
57:
  %58 = phi i32 [ %56, %54 ], [ 0, %48 ]
  store i32 %58, ptr %53, align 4
  %59 = load ptr, ptr %13, align 8
  %60 = getelementptr inbounds nuw i8, ptr %59, i64 %51
  %61 = getelementptr inbounds nuw i8, ptr %60, i64 60
  store i32 0, ptr %61, align 4
  %62 = add nuw i64 %49, 1
  %63 = icmp eq i64 %62, %3
  br i1 %63, label %44, label %48
}

define internal void @copy_chunk(ptr %0, i32 %1, i32 %2, i64 %3, ptr %4, i32 %5, i64 %6) noinline #0 {
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %10 = load ptr, ptr %9, align 8
  %11 = load i32, ptr @kernel, align 4
  %12 = zext i32 %11 to i64
  %13 = mul nuw i64 %12, %8
  %14 = getelementptr inbounds nuw i8, ptr %10, i64 %13
  %15 = getelementptr inbounds nuw i8, ptr %14, i64 60
  %16 = load i32, ptr %15, align 4
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %19 = load i64, ptr %18, align 8
  %20 = xor i64 %19, %17
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %22 = load i64, ptr %21, align 8
  %23 = or i64 %22, %20
  store i64 %23, ptr %21, align 8
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %25 = load i64, ptr %24, align 8
  %26 = getelementptr inbounds nuw i8, ptr %14, i64 20
  %27 = load i32, ptr %26, align 4
  %28 = zext i32 %27 to i64
  %29 = shl nuw nsw i64 %28, 15
  %30 = shl nuw nsw i64 %8, 25
  %31 = zext i32 %2 to i64
  %32 = shl nuw nsw i64 %31, 9
  %33 = or i64 %32, %30
  %34 = or i64 %33, %25
  %35 = or i64 %34, %29
  %36 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %38 = load ptr, ptr %37, align 8
  %39 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %40 = zext i32 %39 to i64
  %41 = udiv i64 %3, %40
  %42 = getelementptr inbounds nuw i64, ptr %38, i64 %41
  %43 = getelementptr inbounds nuw i8, ptr %0, i64 352
  %44 = load i64, ptr %43, align 8
  %45 = icmp eq i32 %5, 0
  br i1 %45, label %46, label %100
46:
  %47 = udiv i32 16, %39
  %48 = icmp ugt i32 %39, 16
  br i1 %48, label %91, label %49
49:
  %50 = zext nneg i32 %47 to i64
  br label %51
51:
  %52 = phi i64 [ 0, %49 ], [ %80, %51 ]
  %53 = phi i64 [ 0, %49 ], [ %79, %51 ]
  %54 = getelementptr inbounds nuw i64, ptr %4, i64 %52
  %55 = load i64, ptr %54, align 8
  %56 = xor i64 %55, %35
  %57 = icmp ult i64 %56, 140737488355328
  %58 = select i1 %57, i64 0, i64 -140737488354880
  %59 = icmp ult i64 %56, 2147483648
  %60 = select i1 %59, i64 1073741880, i64 %58
  %61 = icmp ult i64 %56, 32768
  %62 = icmp ult i64 %56, 33554432
  %63 = select i1 %62, i64 0, i64 %60
  %64 = select i1 %61, i64 16391, i64 %63
  %65 = and i64 %55, 16384
  %66 = or i64 %56, %65
  %67 = icmp ult i64 %66, 512
  %68 = icmp eq i64 %55, 0
  %69 = or i1 %68, %67
  %70 = select i1 %69, i64 0, i64 %64
  %71 = select i1 %59, i64 504, i64 448
  %72 = select i1 %61, i64 511, i64 %71
  %73 = and i64 %55, 511
  %74 = and i64 %73, %70
  %75 = and i64 %72, %55
  %76 = and i64 %70, -140736414597120
  %77 = or disjoint i64 %75, %76
  %78 = or i64 %77, %35
  store i64 %78, ptr %54, align 8
  %79 = or i64 %74, %53
  %80 = add nuw nsw i64 %52, 1
  %81 = icmp samesign ult i64 %80, %50
  br i1 %81, label %51, label %82
82:
  %83 = load i64, ptr %21, align 8
  %84 = or i64 %83, %79
  store i64 %84, ptr %21, align 8
  %85 = zext nneg i32 %47 to i64
  br label %86
86:
  %87 = phi i64 [ 0, %82 ], [ %89, %86 ]
  %88 = getelementptr inbounds nuw i64, ptr %4, i64 %87
  store i64 -140736414596901, ptr %88, align 8
  %89 = add nuw nsw i64 %87, 1
  %90 = icmp samesign ult i64 %89, %85
  br i1 %90, label %86, label %91
91:
  %92 = shl nuw i64 1, %31
  %93 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 16), align 4
  %94 = add i32 %93, 40
  %95 = zext i32 %94 to i64
  %96 = getelementptr inbounds nuw i8, ptr %14, i64 %95
  %97 = getelementptr inbounds nuw i8, ptr %96, i64 32
  %98 = load i64, ptr %97, align 8
  %99 = or i64 %98, %92
  store i64 %99, ptr %97, align 8
  tail call void @read_chunk(ptr %0, i32 %1, i32 1, i64 %3)
  br label %214
100:
  %101 = load i64, ptr %36, align 8
  %102 = trunc i64 %101 to i32
  %103 = add i32 %102, -1
  %104 = lshr i32 %103, 6
  %105 = or i32 %104, 15
  %106 = tail call range(i32 6, 29) i32 @llvm.ctlz.i32(i32 %105, i1 true)
  %107 = sub nuw nsw i32 32, %106
  %108 = zext nneg i32 %107 to i64
  %109 = lshr i64 %3, %108
  %110 = shl nuw i64 1, %109
  %111 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %112 = load i64, ptr %111, align 8
  %113 = and i64 %110, %112
  %114 = udiv i32 16, %39
  %115 = icmp ugt i32 %39, 16
  br i1 %115, label %116, label %118
116:
  %117 = or i64 %113, %23
  store i64 %117, ptr %21, align 8
  br label %170
118:
  %119 = zext nneg i32 %114 to i64
  br label %173
120:
  %121 = or i64 %179, %23
  store i64 %121, ptr %21, align 8
  %122 = zext nneg i32 %114 to i64
  br label %125
123:
  %124 = zext nneg i32 %114 to i64
  br label %130
125:
  %126 = phi i64 [ 0, %120 ], [ %128, %125 ]
  %127 = getelementptr inbounds nuw i64, ptr %4, i64 %126
  store i64 -140736414597047, ptr %127, align 8
  %128 = add nuw nsw i64 %126, 1
  %129 = icmp samesign ult i64 %128, %122
  br i1 %129, label %125, label %123
130:
  %131 = phi i64 [ 0, %123 ], [ %159, %130 ]
  %132 = phi i64 [ 0, %123 ], [ %158, %130 ]
  %133 = getelementptr inbounds nuw i64, ptr %42, i64 %131
  %134 = load i64, ptr %133, align 8
  %135 = xor i64 %134, %35
  %136 = icmp ult i64 %135, 140737488355328
  %137 = select i1 %136, i64 0, i64 -140737488354880
  %138 = icmp ult i64 %135, 2147483648
  %139 = select i1 %138, i64 1073741880, i64 %137
  %140 = icmp ult i64 %135, 32768
  %141 = icmp ult i64 %135, 33554432
  %142 = select i1 %141, i64 0, i64 %139
  %143 = select i1 %140, i64 16391, i64 %142
  %144 = and i64 %134, 16384
  %145 = or i64 %135, %144
  %146 = icmp ult i64 %145, 512
  %147 = icmp eq i64 %134, 0
  %148 = or i1 %147, %146
  %149 = select i1 %148, i64 0, i64 %143
  %150 = select i1 %138, i64 504, i64 448
  %151 = select i1 %140, i64 511, i64 %150
  %152 = and i64 %134, 511
  %153 = and i64 %152, %149
  %154 = and i64 %151, %134
  %155 = and i64 %149, -140736414597120
  %156 = or disjoint i64 %154, %155
  %157 = or i64 %156, %35
  store i64 %157, ptr %133, align 8
  %158 = or i64 %153, %132
  %159 = add nuw nsw i64 %131, 1
  %160 = icmp samesign ult i64 %159, %124
  br i1 %160, label %130, label %161
161:
  %162 = load i64, ptr %21, align 8
  %163 = or i64 %162, %158
  store i64 %163, ptr %21, align 8
  %164 = zext nneg i32 %114 to i64
  br label %165
165:
  %166 = phi i64 [ 0, %161 ], [ %168, %165 ]
  %167 = getelementptr inbounds nuw i64, ptr %42, i64 %166
  store i64 -140736414596901, ptr %167, align 8
  %168 = add nuw nsw i64 %166, 1
  %169 = icmp samesign ult i64 %168, %164
  br i1 %169, label %165, label %170
170:
  %171 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %172 = icmp eq i32 %171, 0
  br i1 %172, label %194, label %182
173:
  %174 = phi i64 [ 0, %118 ], [ %180, %173 ]
  %175 = phi i64 [ %113, %118 ], [ %179, %173 ]
  %176 = getelementptr inbounds nuw i64, ptr %4, i64 %174
  %177 = load i64, ptr %176, align 8
  %178 = and i64 %177, 438
  %179 = or i64 %178, %175
  %180 = add nuw nsw i64 %174, 1
  %181 = icmp samesign ult i64 %180, %119
  br i1 %181, label %173, label %120
182:
  %183 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %184 = load ptr, ptr %183, align 8
  %185 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %186 = load i64, ptr %185, align 8
  %187 = sub i64 %3, %186
  %188 = getelementptr inbounds nuw i8, ptr %184, i64 %187
  %189 = load i64, ptr %188, align 1
  %190 = and i64 %189, 144680345676153346
  store i64 %190, ptr %188, align 1
  %191 = getelementptr inbounds nuw i8, ptr %188, i64 8
  %192 = load i64, ptr %191, align 1
  %193 = and i64 %192, 144680345676153346
  store i64 %193, ptr %191, align 1
  br label %194
194:
  %195 = load i64, ptr %36, align 8
  %196 = lshr i64 %195, 4
  %197 = icmp ult i64 %44, %196
  br i1 %197, label %198, label %214
198:
  %199 = ptrtoint ptr %42 to i64
  %200 = insertelement <2 x i64> poison, i64 %199, i64 0
  %201 = insertelement <2 x i64> %200, i64 %6, i64 1
  %202 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %203 = load i64, ptr %202, align 8
  %204 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %205 = load ptr, ptr %204, align 8
  %206 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %207 = load i64, ptr %206, align 8
  %208 = mul i64 %207, %203
  %209 = getelementptr inbounds nuw i8, ptr %205, i64 %208
  %210 = getelementptr inbounds nuw i8, ptr %209, i64 128
  %211 = getelementptr inbounds nuw <2 x i64>, ptr %210, i64 %44
  store <2 x i64> %201, ptr %211, align 8
  %212 = load i64, ptr %43, align 8
  %213 = add i64 %212, 1
  store i64 %213, ptr %43, align 8
  br label %214
214:
  ret void
}

define internal void @use_object(ptr %0, i32 %1, i32 %2, i64 %3) noinline #0 {
  %5 = zext i32 %1 to i64
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %7 = load ptr, ptr %6, align 8
  %8 = load i32, ptr @kernel, align 4
  %9 = zext i32 %8 to i64
  %10 = mul nuw i64 %9, %5
  %11 = getelementptr inbounds nuw i8, ptr %7, i64 %10
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds nuw i8, ptr %11, i64 20
  %15 = load i32, ptr %14, align 4
  %16 = zext i32 %15 to i64
  %17 = shl nuw nsw i64 %16, 15
  %18 = shl nuw nsw i64 %5, 25
  %19 = zext i32 %2 to i64
  %20 = shl nuw nsw i64 %19, 9
  %21 = or i64 %20, %18
  %22 = or i64 %21, %13
  %23 = or i64 %22, %17
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 216
  %25 = load ptr, ptr %24, align 8
  %26 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %27 = zext i32 %26 to i64
  %28 = udiv i64 %3, %27
  %29 = getelementptr inbounds nuw i64, ptr %25, i64 %28
  %30 = icmp ugt i32 %26, 8
  br i1 %30, label %67, label %31
31:
  %32 = trunc nuw i32 %26 to i8
  %33 = udiv i8 8, %32
  %34 = zext nneg i8 %33 to i64
  %35 = or i64 %23, 292
  br label %36
36:
  %37 = phi i64 [ 0, %31 ], [ %65, %36 ]
  %38 = phi i64 [ 0, %31 ], [ %64, %36 ]
  %39 = getelementptr inbounds nuw i64, ptr %29, i64 %37
  %40 = load i64, ptr %39, align 8
  %41 = xor i64 %40, %23
  %42 = icmp ult i64 %41, 140737488355328
  %43 = select i1 %42, i64 0, i64 -140737488355136
  %44 = icmp ult i64 %41, 2147483648
  %45 = select i1 %44, i64 1073741848, i64 %43
  %46 = icmp ult i64 %41, 32768
  %47 = icmp ult i64 %41, 33554432
  %48 = select i1 %47, i64 0, i64 %45
  %49 = select i1 %46, i64 16387, i64 %48
  %50 = and i64 %40, 16384
  %51 = or i64 %41, %50
  %52 = icmp ult i64 %51, 512
  %53 = icmp eq i64 %40, 0
  %54 = or i1 %53, %52
  %55 = select i1 %54, i64 0, i64 %49
  %56 = select i1 %44, i64 216, i64 192
  %57 = select i1 %46, i64 219, i64 %56
  %58 = and i64 %40, 219
  %59 = and i64 %58, %55
  %60 = and i64 %57, %40
  %61 = and i64 %55, -140736414597120
  %62 = or disjoint i64 %60, %61
  %63 = or i64 %62, %35
  store i64 %63, ptr %39, align 8
  %64 = or i64 %59, %38
  %65 = add nuw nsw i64 %37, 1
  %66 = icmp samesign ult i64 %65, %34
  br i1 %66, label %36, label %67
67:
  %68 = phi i64 [ 0, %4 ], [ %64, %36 ]
  %69 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %70 = load i64, ptr %69, align 8
  %71 = or i64 %70, %68
  store i64 %71, ptr %69, align 8
  %72 = getelementptr inbounds nuw i8, ptr %0, i64 232
  %73 = load ptr, ptr %72, align 8
  %74 = getelementptr inbounds nuw i8, ptr %0, i64 312
  %75 = load i64, ptr %74, align 8
  %76 = sub i64 %3, %75
  %77 = getelementptr inbounds nuw i8, ptr %73, i64 %76
  %78 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %79 = icmp ne i32 %78, 0
  %80 = icmp ne ptr %73, null
  %81 = and i1 %80, %79
  br i1 %81, label %82, label %94
82:
  %83 = phi i64 [ %90, %82 ], [ 0, %67 ]
  %84 = phi i32 [ %89, %82 ], [ 0, %67 ]
  %85 = getelementptr inbounds nuw i8, ptr %77, i64 %83
  %86 = load i8, ptr %85, align 1
  %87 = icmp ne i8 %86, 0
  %88 = zext i1 %87 to i32
  %89 = or i32 %84, %88
  %90 = add nuw nsw i64 %83, 1
  %91 = icmp eq i64 %90, 8
  br i1 %91, label %92, label %82
92:
  %93 = zext nneg i32 %89 to i64
  br label %94
94:
  %95 = phi i64 [ 0, %67 ], [ %93, %92 ]
  %96 = or i64 %71, %95
  store i64 %96, ptr %69, align 8
  ret void
}

define internal void @end_wait(ptr %0, i32 %1, i32 %2, i32 %3, i64 %4) noinline #0 {
  %6 = zext i32 %1 to i64
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %8 = load ptr, ptr %7, align 8
  %9 = load i32, ptr @kernel, align 4
  %10 = zext i32 %9 to i64
  %11 = mul nuw i64 %10, %6
  %12 = getelementptr inbounds nuw i8, ptr %8, i64 %11
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %14 = load i64, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 328
  %16 = load ptr, ptr %15, align 8
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 336
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, %14
  %20 = getelementptr inbounds nuw i8, ptr %16, i64 %19
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %22 = getelementptr inbounds nuw i8, ptr %20, i64 128
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %24 = load i64, ptr %23, align 8
  %25 = getelementptr inbounds nuw i8, ptr %12, i64 20
  %26 = load i32, ptr %25, align 4
  %27 = zext i32 %26 to i64
  %28 = shl nuw nsw i64 %27, 15
  %29 = shl nuw nsw i64 %6, 25
  %30 = icmp ne i32 %3, 0
  %31 = zext i32 %2 to i64
  %32 = shl nuw nsw i64 %31, 9
  %33 = select i1 %30, i64 1073758208, i64 %32
  %34 = select i1 %30, i64 73, i64 219
  %35 = or i64 %33, %29
  %36 = or disjoint i64 %35, %34
  %37 = or i64 %36, %24
  %38 = or i64 %37, %28
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 352
  %40 = load i64, ptr %39, align 8
  %41 = icmp eq i64 %40, 0
  br i1 %41, label %42, label %44
42:
  %43 = getelementptr inbounds nuw i8, ptr %12, i64 60
  br label %89
44:
  %45 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  br label %50
46:
  %47 = getelementptr inbounds nuw i8, ptr %12, i64 60
  %48 = icmp ult i64 %61, %74
  %49 = select i1 %30, i1 %48, i1 false
  br i1 %49, label %79, label %89
50:
  %51 = phi i64 [ 0, %44 ], [ %61, %72 ]
  %52 = phi i64 [ 0, %44 ], [ %73, %72 ]
  %53 = getelementptr inbounds nuw <2 x i64>, ptr %22, i64 %52
  %54 = load <2 x i64>, ptr %53, align 8
  %55 = extractelement <2 x i64> %54, i64 1
  %56 = icmp eq i64 %55, %4
  br i1 %56, label %60, label %57
57:
  %58 = add i64 %51, 1
  %59 = getelementptr inbounds nuw <2 x i64>, ptr %22, i64 %51
  store <2 x i64> %54, ptr %59, align 8
  br label %60
60:
  %61 = phi i64 [ %58, %57 ], [ %51, %50 ]
  %62 = extractelement <2 x i64> %54, i64 0
  %63 = inttoptr i64 %62 to ptr
  br label %64
64:
  %65 = phi i64 [ %78, %76 ], [ 0, %60 ]
  br i1 %56, label %66, label %69
66:
  %67 = udiv i32 16, %45
  %68 = zext nneg i32 %67 to i64
  br label %69
69:
  %70 = phi i64 [ %68, %66 ], [ 0, %64 ]
  %71 = icmp samesign ult i64 %65, %70
  br i1 %71, label %76, label %72
72:
  %73 = add nuw i64 %52, 1
  %74 = load i64, ptr %39, align 8
  %75 = icmp ult i64 %73, %74
  br i1 %75, label %50, label %46
76:
  %77 = getelementptr inbounds nuw i64, ptr %63, i64 %65
  store i64 %38, ptr %77, align 8
  %78 = add nuw nsw i64 %65, 1
  br label %64
79:
  %80 = load i64, ptr %21, align 8
  %81 = icmp eq i64 %80, 16
  %82 = zext i1 %81 to i64
  %83 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %84 = load i64, ptr %83, align 8
  %85 = or i64 %84, %82
  store i64 %85, ptr %83, align 8
  %86 = add i64 %80, 1
  store i64 %86, ptr %21, align 8
  %87 = and i64 %80, 15
  %88 = getelementptr inbounds nuw i64, ptr %20, i64 %87
  store i64 %4, ptr %88, align 8
  br label %94
89:
  %90 = phi ptr [ %43, %42 ], [ %47, %46 ]
  %91 = phi i64 [ 0, %42 ], [ %61, %46 ]
  br i1 %30, label %94, label %92
92:
  %93 = load i32, ptr %90, align 4
  br label %108
94:
  %95 = phi ptr [ %47, %79 ], [ %90, %89 ]
  %96 = phi i64 [ %61, %79 ], [ %91, %89 ]
  %97 = load i32, ptr %95, align 4
  %98 = zext i32 %97 to i64
  %99 = load i64, ptr %21, align 8
  %100 = icmp ugt i64 %99, %98
  br i1 %100, label %101, label %108
101:
  %102 = and i32 %97, 15
  %103 = zext nneg i32 %102 to i64
  %104 = getelementptr inbounds nuw i64, ptr %20, i64 %103
  %105 = load i64, ptr %104, align 8
  %106 = icmp eq i64 %105, %4
  %107 = zext i1 %106 to i32
  br label %108
108:
  %109 = phi ptr [ %95, %94 ], [ %90, %92 ], [ %95, %101 ]
  %110 = phi i64 [ %96, %94 ], [ %91, %92 ], [ %96, %101 ]
  %111 = phi i32 [ %97, %94 ], [ %93, %92 ], [ %97, %101 ]
  %112 = phi i32 [ 0, %94 ], [ 0, %92 ], [ %107, %101 ]
  %113 = add i32 %111, %112
  store i32 %113, ptr %109, align 4
  store i64 %110, ptr %39, align 8
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
  %15 = tail call range(i32 0, 33) i32 @llvm.ctlz.i32(i32 %2, i1 true)
  %16 = xor i32 %15, 31
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i64, ptr %9, i64 %17
  %19 = load i64, ptr %18, align 8
  %20 = icmp eq i64 %13, %19
  %21 = icmp eq i32 %6, 0
  br i1 %21, label %22, label %28
22:
  %23 = icmp eq i32 %5, 0
  br i1 %23, label %28, label %24
24:
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 192
  %26 = load i32, ptr %25, align 4
  %27 = icmp eq i32 %26, 0
  br label %28
28:
  %29 = phi i1 [ false, %7 ], [ true, %22 ], [ %27, %24 ]
  br i1 %20, label %30, label %40
30:
  %31 = load <32 x i64>, ptr %9, align 8
  %32 = insertelement <32 x i64> poison, i64 %13, i64 0
  %33 = shufflevector <32 x i64> %32, <32 x i64> poison, <32 x i32> zeroinitializer
  %34 = icmp ne <32 x i64> %31, %33
  %35 = bitcast <32 x i1> %34 to i32
  %36 = and i32 %2, %35
  %37 = icmp ne i32 %36, 0
  %38 = icmp eq i32 %2, -1
  %39 = and i1 %38, %37
  br i1 %39, label %41, label %178
40:
  switch i32 %2, label %181 [
    i32 -1, label %41
    i32 0, label %354
  ]
41:
  switch i32 %3, label %55 [
    i32 4, label %42
    i32 8, label %48
  ]
42:
  %43 = load <32 x i32>, ptr %14, align 4
  %44 = shufflevector <32 x i32> %43, <32 x i32> poison, <32 x i32> zeroinitializer
  %45 = xor <32 x i32> %44, %43
  %46 = tail call i32 @llvm.vector.reduce.or.v32i32(<32 x i32> %45)
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %56, label %55
48:
  %49 = load <32 x i64>, ptr %14, align 8
  %50 = shufflevector <32 x i64> %49, <32 x i64> poison, <32 x i32> zeroinitializer
  %51 = xor <32 x i64> %50, %49
  %52 = tail call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %51)
  %53 = icmp eq i64 %52, 0
  %54 = extractelement <32 x i64> %49, i64 0
  br i1 %53, label %60, label %55
55:
  br label %113
56:
  %57 = bitcast <32 x i32> %43 to <16 x i64>
  %58 = extractelement <16 x i64> %57, i64 0
  %59 = and i64 %58, 4294967295
  br label %60
60:
  %61 = phi i64 [ %59, %56 ], [ %54, %48 ]
  br label %62
62:
  %63 = phi i64 [ 0, %60 ], [ %111, %110 ]
  %64 = getelementptr inbounds nuw i64, ptr %9, i64 %63
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds nuw i8, ptr %1, i64 %65
  br i1 %29, label %67, label %81
67:
  switch i32 %3, label %78 [
    i32 2, label %68
    i32 4, label %73
  ]
68:
  %69 = load i16, ptr %66, align 2
  %70 = zext i16 %69 to i64
  %71 = tail call i64 %4(i64 %70, i64 %61, i64 0)
  %72 = trunc i64 %71 to i16
  store i16 %72, ptr %66, align 2
  br label %110
73:
  %74 = load i32, ptr %66, align 4
  %75 = zext i32 %74 to i64
  %76 = tail call i64 %4(i64 %75, i64 %61, i64 0)
  %77 = trunc i64 %76 to i32
  store i32 %77, ptr %66, align 4
  br label %110
78:
  %79 = load i64, ptr %66, align 8
  %80 = tail call i64 %4(i64 %79, i64 %61, i64 0)
  store i64 %80, ptr %66, align 8
  br label %110
81:
  switch i32 %3, label %102 [
    i32 2, label %82
    i32 4, label %92
  ]
82:
  %83 = load atomic i16, ptr %66 monotonic, align 2
  br label %84
84:
  %85 = phi i16 [ %83, %82 ], [ %91, %84 ]
  %86 = zext i16 %85 to i64
  %87 = tail call i64 %4(i64 %86, i64 %61, i64 0)
  %88 = trunc i64 %87 to i16
  %89 = cmpxchg weak ptr %66, i16 %85, i16 %88 monotonic monotonic, align 2
  %90 = extractvalue { i16, i1 } %89, 1
  %91 = extractvalue { i16, i1 } %89, 0
  br i1 %90, label %110, label %84
92:
  %93 = load atomic i32, ptr %66 monotonic, align 4
  br label %94
94:
  %95 = phi i32 [ %93, %92 ], [ %101, %94 ]
  %96 = zext i32 %95 to i64
  %97 = tail call i64 %4(i64 %96, i64 %61, i64 0)
  %98 = trunc i64 %97 to i32
  %99 = cmpxchg weak ptr %66, i32 %95, i32 %98 monotonic monotonic, align 4
  %100 = extractvalue { i32, i1 } %99, 1
  %101 = extractvalue { i32, i1 } %99, 0
  br i1 %100, label %110, label %94
102:
  %103 = load atomic i64, ptr %66 monotonic, align 8
  br label %104
104:
  %105 = phi i64 [ %103, %102 ], [ %109, %104 ]
  %106 = tail call i64 %4(i64 %105, i64 %61, i64 0)
  %107 = cmpxchg weak ptr %66, i64 %105, i64 %106 monotonic monotonic, align 8
  %108 = extractvalue { i64, i1 } %107, 1
  %109 = extractvalue { i64, i1 } %107, 0
  br i1 %108, label %110, label %104
110:
  %111 = add nuw nsw i64 %63, 1
  %112 = icmp eq i64 %111, 32
  br i1 %112, label %354, label %62
113:
  %114 = phi i64 [ %176, %175 ], [ 0, %55 ]
  %115 = getelementptr inbounds nuw i64, ptr %9, i64 %114
  %116 = load i64, ptr %115, align 8
  %117 = getelementptr inbounds nuw i8, ptr %1, i64 %116
  %118 = trunc nuw nsw i64 %114 to i32
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
  br i1 %29, label %132, label %146
132:
  switch i32 %3, label %143 [
    i32 2, label %133
    i32 4, label %138
  ]
133:
  %134 = load i16, ptr %117, align 2
  %135 = zext i16 %134 to i64
  %136 = tail call i64 %4(i64 %135, i64 %131, i64 0)
  %137 = trunc i64 %136 to i16
  store i16 %137, ptr %117, align 2
  br label %175
138:
  %139 = load i32, ptr %117, align 4
  %140 = zext i32 %139 to i64
  %141 = tail call i64 %4(i64 %140, i64 %131, i64 0)
  %142 = trunc i64 %141 to i32
  store i32 %142, ptr %117, align 4
  br label %175
143:
  %144 = load i64, ptr %117, align 8
  %145 = tail call i64 %4(i64 %144, i64 %131, i64 0)
  store i64 %145, ptr %117, align 8
  br label %175
146:
  switch i32 %3, label %167 [
    i32 2, label %147
    i32 4, label %157
  ]
147:
  %148 = load atomic i16, ptr %117 monotonic, align 2
  br label %149
149:
  %150 = phi i16 [ %148, %147 ], [ %156, %149 ]
  %151 = zext i16 %150 to i64
  %152 = tail call i64 %4(i64 %151, i64 %131, i64 0)
  %153 = trunc i64 %152 to i16
  %154 = cmpxchg weak ptr %117, i16 %150, i16 %153 monotonic monotonic, align 2
  %155 = extractvalue { i16, i1 } %154, 1
  %156 = extractvalue { i16, i1 } %154, 0
  br i1 %155, label %175, label %149
157:
  %158 = load atomic i32, ptr %117 monotonic, align 4
  br label %159
159:
  %160 = phi i32 [ %158, %157 ], [ %166, %159 ]
  %161 = zext i32 %160 to i64
  %162 = tail call i64 %4(i64 %161, i64 %131, i64 0)
  %163 = trunc i64 %162 to i32
  %164 = cmpxchg weak ptr %117, i32 %160, i32 %163 monotonic monotonic, align 4
  %165 = extractvalue { i32, i1 } %164, 1
  %166 = extractvalue { i32, i1 } %164, 0
  br i1 %165, label %175, label %159
167:
  %168 = load atomic i64, ptr %117 monotonic, align 8
  br label %169
169:
  %170 = phi i64 [ %168, %167 ], [ %174, %169 ]
  %171 = tail call i64 %4(i64 %170, i64 %131, i64 0)
  %172 = cmpxchg weak ptr %117, i64 %170, i64 %171 monotonic monotonic, align 8
  %173 = extractvalue { i64, i1 } %172, 1
  %174 = extractvalue { i64, i1 } %172, 0
  br i1 %173, label %175, label %169
175:
  %176 = add nuw nsw i64 %114, 1
  %177 = icmp eq i64 %176, 32
  br i1 %177, label %354, label %113
178:
  br i1 %37, label %179, label %249
179:
  %180 = icmp eq i32 %2, 0
  br i1 %180, label %354, label %181
181:
  br label %182
182:
  %183 = phi i32 [ %247, %245 ], [ %2, %181 ]
  %184 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %183, i1 true)
  %185 = zext nneg i32 %184 to i64
  %186 = getelementptr inbounds nuw i64, ptr %9, i64 %185
  %187 = load i64, ptr %186, align 8
  %188 = getelementptr inbounds nuw i8, ptr %1, i64 %187
  %189 = mul i32 %184, %3
  %190 = zext i32 %189 to i64
  %191 = getelementptr inbounds nuw i8, ptr %14, i64 %190
  switch i32 %3, label %198 [
    i32 2, label %192
    i32 4, label %195
  ]
192:
  %193 = load i16, ptr %191, align 2
  %194 = zext i16 %193 to i64
  br label %200
195:
  %196 = load i32, ptr %191, align 4
  %197 = zext i32 %196 to i64
  br label %200
198:
  %199 = load i64, ptr %191, align 8
  br label %200
200:
  %201 = phi i64 [ %194, %192 ], [ %197, %195 ], [ %199, %198 ]
  br i1 %29, label %202, label %216
202:
  switch i32 %3, label %213 [
    i32 2, label %203
    i32 4, label %208
  ]
203:
  %204 = load i16, ptr %188, align 2
  %205 = zext i16 %204 to i64
  %206 = tail call i64 %4(i64 %205, i64 %201, i64 0)
  %207 = trunc i64 %206 to i16
  store i16 %207, ptr %188, align 2
  br label %245
208:
  %209 = load i32, ptr %188, align 4
  %210 = zext i32 %209 to i64
  %211 = tail call i64 %4(i64 %210, i64 %201, i64 0)
  %212 = trunc i64 %211 to i32
  store i32 %212, ptr %188, align 4
  br label %245
213:
  %214 = load i64, ptr %188, align 8
  %215 = tail call i64 %4(i64 %214, i64 %201, i64 0)
  store i64 %215, ptr %188, align 8
  br label %245
216:
  switch i32 %3, label %237 [
    i32 2, label %217
    i32 4, label %227
  ]
217:
  %218 = load atomic i16, ptr %188 monotonic, align 2
  br label %219
219:
  %220 = phi i16 [ %218, %217 ], [ %226, %219 ]
  %221 = zext i16 %220 to i64
  %222 = tail call i64 %4(i64 %221, i64 %201, i64 0)
  %223 = trunc i64 %222 to i16
  %224 = cmpxchg weak ptr %188, i16 %220, i16 %223 monotonic monotonic, align 2
  %225 = extractvalue { i16, i1 } %224, 1
  %226 = extractvalue { i16, i1 } %224, 0
  br i1 %225, label %245, label %219
227:
  %228 = load atomic i32, ptr %188 monotonic, align 4
  br label %229
229:
  %230 = phi i32 [ %228, %227 ], [ %236, %229 ]
  %231 = zext i32 %230 to i64
  %232 = tail call i64 %4(i64 %231, i64 %201, i64 0)
  %233 = trunc i64 %232 to i32
  %234 = cmpxchg weak ptr %188, i32 %230, i32 %233 monotonic monotonic, align 4
  %235 = extractvalue { i32, i1 } %234, 1
  %236 = extractvalue { i32, i1 } %234, 0
  br i1 %235, label %245, label %229
237:
  %238 = load atomic i64, ptr %188 monotonic, align 8
  br label %239
239:
  %240 = phi i64 [ %238, %237 ], [ %244, %239 ]
  %241 = tail call i64 %4(i64 %240, i64 %201, i64 0)
  %242 = cmpxchg weak ptr %188, i64 %240, i64 %241 monotonic monotonic, align 8
  %243 = extractvalue { i64, i1 } %242, 1
  %244 = extractvalue { i64, i1 } %242, 0
  br i1 %243, label %245, label %239
245:
  %246 = add i32 %183, -1
  %247 = and i32 %246, %183
  %248 = icmp eq i32 %247, 0
  br i1 %248, label %354, label %182
249:
  %250 = mul i32 %10, %3
  %251 = zext i32 %250 to i64
  %252 = getelementptr inbounds nuw i8, ptr %14, i64 %251
  switch i32 %3, label %259 [
    i32 2, label %253
    i32 4, label %256
  ]
253:
  %254 = load i16, ptr %252, align 2
  %255 = zext i16 %254 to i64
  br label %261
256:
  %257 = load i32, ptr %252, align 4
  %258 = zext i32 %257 to i64
  br label %261
259:
  %260 = load i64, ptr %252, align 8
  br label %261
261:
  %262 = phi i64 [ %255, %253 ], [ %258, %256 ], [ %260, %259 ]
  br i1 %38, label %263, label %283
263:
  %264 = phi i64 [ %281, %278 ], [ 1, %261 ]
  %265 = phi i64 [ %280, %278 ], [ %262, %261 ]
  %266 = trunc nuw nsw i64 %264 to i32
  %267 = mul i32 %3, %266
  %268 = zext i32 %267 to i64
  %269 = getelementptr inbounds nuw i8, ptr %14, i64 %268
  switch i32 %3, label %276 [
    i32 2, label %270
    i32 4, label %273
  ]
270:
  %271 = load i16, ptr %269, align 2
  %272 = zext i16 %271 to i64
  br label %278
273:
  %274 = load i32, ptr %269, align 4
  %275 = zext i32 %274 to i64
  br label %278
276:
  %277 = load i64, ptr %269, align 8
  br label %278
278:
  %279 = phi i64 [ %272, %270 ], [ %275, %273 ], [ %277, %276 ]
  %280 = tail call i64 %4(i64 %265, i64 %279, i64 0)
  %281 = add nuw nsw i64 %264, 1
  %282 = icmp eq i64 %281, 32
  br i1 %282, label %308, label %263
283:
  %284 = add i32 %2, -1
  %285 = and i32 %284, %2
  %286 = icmp eq i32 %285, 0
  br i1 %286, label %308, label %287
287:
  %288 = phi i32 [ %306, %302 ], [ %285, %283 ]
  %289 = phi i64 [ %304, %302 ], [ %262, %283 ]
  %290 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %288, i1 true)
  %291 = mul i32 %290, %3
  %292 = zext i32 %291 to i64
  %293 = getelementptr inbounds nuw i8, ptr %14, i64 %292
  switch i32 %3, label %300 [
    i32 2, label %294
    i32 4, label %297
  ]
294:
  %295 = load i16, ptr %293, align 2
  %296 = zext i16 %295 to i64
  br label %302
297:
  %298 = load i32, ptr %293, align 4
  %299 = zext i32 %298 to i64
  br label %302
300:
  %301 = load i64, ptr %293, align 8
  br label %302
302:
  %303 = phi i64 [ %296, %294 ], [ %299, %297 ], [ %301, %300 ]
  %304 = tail call i64 %4(i64 %289, i64 %303, i64 0)
  %305 = add i32 %288, -1
  %306 = and i32 %305, %288
  %307 = icmp eq i32 %306, 0
  br i1 %307, label %308, label %287
308:
  %309 = phi i64 [ %262, %283 ], [ %280, %278 ], [ %304, %302 ]
  %310 = getelementptr inbounds nuw i8, ptr %1, i64 %13
  br i1 %29, label %311, label %325
311:
  switch i32 %3, label %322 [
    i32 2, label %312
    i32 4, label %317
  ]
312:
  %313 = load i16, ptr %310, align 2
  %314 = zext i16 %313 to i64
  %315 = tail call i64 %4(i64 %314, i64 %309, i64 0)
  %316 = trunc i64 %315 to i16
  store i16 %316, ptr %310, align 2
  br label %354
317:
  %318 = load i32, ptr %310, align 4
  %319 = zext i32 %318 to i64
  %320 = tail call i64 %4(i64 %319, i64 %309, i64 0)
  %321 = trunc i64 %320 to i32
  store i32 %321, ptr %310, align 4
  br label %354
322:
  %323 = load i64, ptr %310, align 8
  %324 = tail call i64 %4(i64 %323, i64 %309, i64 0)
  store i64 %324, ptr %310, align 8
  br label %354
325:
  switch i32 %3, label %346 [
    i32 2, label %326
    i32 4, label %336
  ]
326:
  %327 = load atomic i16, ptr %310 monotonic, align 2
  br label %328
328:
  %329 = phi i16 [ %327, %326 ], [ %335, %328 ]
  %330 = zext i16 %329 to i64
  %331 = tail call i64 %4(i64 %330, i64 %309, i64 0)
  %332 = trunc i64 %331 to i16
  %333 = cmpxchg weak ptr %310, i16 %329, i16 %332 monotonic monotonic, align 2
  %334 = extractvalue { i16, i1 } %333, 1
  %335 = extractvalue { i16, i1 } %333, 0
  br i1 %334, label %354, label %328
336:
  %337 = load atomic i32, ptr %310 monotonic, align 4
  br label %338
338:
  %339 = phi i32 [ %337, %336 ], [ %345, %338 ]
  %340 = zext i32 %339 to i64
  %341 = tail call i64 %4(i64 %340, i64 %309, i64 0)
  %342 = trunc i64 %341 to i32
  %343 = cmpxchg weak ptr %310, i32 %339, i32 %342 monotonic monotonic, align 4
  %344 = extractvalue { i32, i1 } %343, 1
  %345 = extractvalue { i32, i1 } %343, 0
  br i1 %344, label %354, label %338
346:
  %347 = load atomic i64, ptr %310 monotonic, align 8
  br label %348
348:
  %349 = phi i64 [ %347, %346 ], [ %353, %348 ]
  %350 = tail call i64 %4(i64 %349, i64 %309, i64 0)
  %351 = cmpxchg weak ptr %310, i64 %349, i64 %350 monotonic monotonic, align 8
  %352 = extractvalue { i64, i1 } %351, 1
  %353 = extractvalue { i64, i1 } %351, 0
  br i1 %352, label %354, label %348
354:
  ret void
}

define internal void @arrive(ptr %0, i32 %1, i32 %2) noinline #0 {
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 52), align 4
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
  %20 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 56), align 4
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
  %12 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 52), align 4
  %13 = shl i32 %1, 4
  %14 = add i32 %12, %13
  %15 = zext i32 %14 to i64
  %16 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 56), align 4
  %17 = shl i32 %1, 2
  %18 = add i32 %16, %17
  %19 = zext i32 %18 to i64
  br label %45
20:
  %21 = icmp ne i32 %90, 0
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %23 = load i32, ptr @kernel, align 4
  %24 = zext i32 %23 to i64
  %25 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 88), align 4
  %26 = icmp eq i32 %25, 0
  %27 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
  %28 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 64), align 4
  %29 = zext i32 %28 to i64
  %30 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 60), align 4
  %31 = zext i32 %30 to i64
  %32 = insertelement <32 x i32> poison, i32 %1, i64 0
  %33 = shufflevector <32 x i32> %32, <32 x i32> poison, <32 x i32> zeroinitializer
  %34 = insertelement <32 x i32> poison, i32 %88, i64 0
  %35 = shufflevector <32 x i32> %34, <32 x i32> poison, <32 x i32> zeroinitializer
  %36 = insertelement <32 x i1> poison, i1 %21, i64 0
  %37 = shufflevector <32 x i1> %36, <32 x i1> poison, <32 x i32> zeroinitializer
  %38 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 80), align 4
  %39 = zext i32 %38 to i64
  %40 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 84), align 4
  %41 = zext i32 %40 to i64
  %42 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 76), align 4
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
  %102 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 52), align 4
  %103 = shl i32 %1, 4
  %104 = add i32 %102, %103
  %105 = zext i32 %104 to i64
  %106 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 84), align 4
  %107 = zext i32 %106 to i64
  %108 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 56), align 4
  %109 = shl i32 %1, 2
  %110 = add i32 %108, %109
  %111 = zext i32 %110 to i64
  %112 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 88), align 4
  %113 = icmp eq i32 %112, 0
  %114 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
  %115 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 80), align 4
  %116 = zext i32 %115 to i64
  %117 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %118 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 68), align 4
  %119 = zext i32 %118 to i64
  %120 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 72), align 4
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
  %22 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 60), align 4
  %23 = zext i32 %22 to i64
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 %23
  %25 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 64), align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds nuw i8, ptr %1, i64 %26
  %28 = load <32 x i32>, ptr %24, align 4
  %29 = select <32 x i1> %21, <32 x i32> %8, <32 x i32> %28
  store <32 x i32> %29, ptr %24, align 4
  %30 = load <32 x i32>, ptr %27, align 4
  %31 = select <32 x i1> %21, <32 x i32> %10, <32 x i32> %30
  store <32 x i32> %31, ptr %27, align 4
  %32 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 76), align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr inbounds nuw i8, ptr %1, i64 %33
  %35 = load i32, ptr %34, align 4
  %36 = xor i32 %2, -1
  %37 = and i32 %35, %36
  %38 = or i32 %37, %4
  store i32 %38, ptr %34, align 4
  %39 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
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
  %48 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 88), align 4
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %53, label %50
50:
  %51 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
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
  %73 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
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
  %14 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
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
  %31 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
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
  %4 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 104), align 4
  %5 = icmp eq i32 %4, 0
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %7 = and i32 %1, -4
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %9 = load i32, ptr @kernel, align 4
  %10 = zext i32 %9 to i64
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %12 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
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

define internal void @check_whole(ptr %0, i32 %1) noinline #0 {
  %3 = xor i32 %1, -1
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %6 = load i64, ptr %5, align 8
  %7 = or i64 %6, %4
  store i64 %7, ptr %5, align 8
  ret void
}

define internal void @check_partners(ptr %0, ptr %1, i32 %2) noinline #0 {
  %4 = load i32, ptr %1, align 4
  %5 = icmp eq i32 %2, 0
  br i1 %5, label %38, label %6
6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 512
  %10 = getelementptr inbounds nuw i8, ptr %8, i64 1024
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %12 = load i64, ptr %11, align 8
  br label %13
13:
  %14 = phi i64 [ %12, %6 ], [ %34, %13 ]
  %15 = phi i32 [ %2, %6 ], [ %36, %13 ]
  %16 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %15, i1 true)
  %17 = zext nneg i32 %16 to i64
  %18 = getelementptr inbounds nuw i32, ptr %9, i64 %17
  %19 = load i32, ptr %18, align 4
  %20 = and i32 %19, 31
  %21 = getelementptr inbounds nuw i32, ptr %8, i64 %17
  %22 = load i32, ptr %21, align 4
  %23 = and i32 %22, %4
  %24 = getelementptr inbounds nuw i8, ptr %10, i64 %17
  %25 = load i8, ptr %24, align 1
  %26 = icmp eq i8 %25, 0
  %27 = icmp eq i32 %20, %16
  %28 = select i1 %26, i1 true, i1 %27
  %29 = xor i32 %23, -1
  %30 = lshr i32 %29, %20
  %31 = and i32 %30, 1
  %32 = zext nneg i32 %31 to i64
  %33 = select i1 %28, i64 0, i64 %32
  %34 = or i64 %33, %14
  store i64 %34, ptr %11, align 8
  %35 = add i32 %15, -1
  %36 = and i32 %35, %15
  %37 = icmp eq i32 %36, 0
  br i1 %37, label %38, label %13
38:
  ret void
}

define internal void @check_place(ptr %0, i64 %1) noinline #0 {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %4 = load i64, ptr %3, align 8
  %5 = icmp ne i64 %4, 0
  %6 = icmp ne i64 %4, %1
  %7 = and i1 %5, %6
  %8 = zext i1 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %10 = load i64, ptr %9, align 8
  %11 = or i64 %10, %8
  store i64 %11, ptr %9, align 8
  store i64 %1, ptr %3, align 8
  ret void
}

define internal i32 @release_warp(ptr %0, ptr %1) noinline #0 {
  %3 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 40), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds nuw i8, ptr %1, i64 %4
  %6 = load <32 x i32>, ptr %5, align 4
  %7 = load i32, ptr %1, align 4
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 96), align 4
  %9 = icmp eq i32 %8, 0
  br i1 %9, label %13, label %10
10:
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 32), align 4
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
  %23 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 116), align 4
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
  %67 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 32), align 4
  %68 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
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
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 40), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds nuw i8, ptr %1, i64 %6
  %8 = bitcast i32 %2 to <32 x i1>
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load ptr, ptr %9, align 8
  %11 = load <32 x i32>, ptr %10, align 4
  %12 = load <32 x i32>, ptr %7, align 4
  %13 = select <32 x i1> %8, <32 x i32> %11, <32 x i32> %12
  store <32 x i32> %13, ptr %7, align 4
  %14 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 32), align 4
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

define internal void @match_lanes(ptr %0, i32 %1, i32 %2, i32 %3) noinline #0 {
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %6 = load ptr, ptr %5, align 8
  %7 = getelementptr inbounds nuw i8, ptr %6, i64 512
  %8 = load <32 x i32>, ptr %7, align 4
  %9 = load <32 x i64>, ptr %6, align 8
  %10 = icmp eq i32 %2, 4
  br i1 %10, label %11, label %16
11:
  %12 = bitcast <32 x i64> %9 to <2 x i1024>
  %13 = extractelement <2 x i1024> %12, i64 0
  %14 = bitcast i1024 %13 to <32 x i32>
  %15 = zext <32 x i32> %14 to <32 x i64>
  br label %16
16:
  %17 = phi <32 x i64> [ %15, %11 ], [ %9, %4 ]
  %18 = icmp eq i32 %1, 0
  br i1 %18, label %19, label %35
19:
  %20 = phi <32 x i32> [ zeroinitializer, %16 ], [ %48, %35 ]
  %21 = insertelement <32 x i32> poison, i32 %1, i64 0
  %22 = shufflevector <32 x i32> %21, <32 x i32> poison, <32 x i32> zeroinitializer
  %23 = and <32 x i32> %8, %22
  %24 = and <32 x i32> %20, %23
  %25 = icmp eq <32 x i32> %24, %23
  %26 = add i32 %3, -1
  %27 = insertelement <32 x i32> poison, i32 %26, i64 0
  %28 = shufflevector <32 x i32> %27, <32 x i32> poison, <32 x i32> zeroinitializer
  %29 = select <32 x i1> %25, <32 x i32> splat (i32 -1), <32 x i32> %28
  %30 = and <32 x i32> %29, %24
  %31 = getelementptr inbounds nuw i8, ptr %6, i64 1024
  store <32 x i32> %30, ptr %31, align 4
  %32 = sext <32 x i1> %25 to <32 x i8>
  %33 = load ptr, ptr %5, align 8
  %34 = getelementptr inbounds nuw i8, ptr %33, i64 1536
  store <32 x i8> %32, ptr %34, align 4
  ret void
35:
  %36 = phi <32 x i32> [ %48, %35 ], [ zeroinitializer, %16 ]
  %37 = phi i32 [ %50, %35 ], [ %1, %16 ]
  %38 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %37, i1 true)
  %39 = extractelement <32 x i64> %17, i32 %38
  %40 = insertelement <32 x i64> poison, i64 %39, i64 0
  %41 = shufflevector <32 x i64> %40, <32 x i64> poison, <32 x i32> zeroinitializer
  %42 = icmp eq <32 x i64> %17, %41
  %43 = bitcast <32 x i1> %42 to i32
  %44 = and i32 %1, %43
  %45 = bitcast i32 %44 to <32 x i1>
  %46 = insertelement <32 x i32> poison, i32 %44, i64 0
  %47 = shufflevector <32 x i32> %46, <32 x i32> poison, <32 x i32> zeroinitializer
  %48 = select <32 x i1> %45, <32 x i32> %47, <32 x i32> %36
  %49 = xor i32 %44, -1
  %50 = and i32 %37, %49
  %51 = icmp eq i32 %50, 0
  br i1 %51, label %19, label %35
}

define internal range(i32 0, 2) i32 @change_objects(ptr %0, i32 %1, ptr %2, i32 %3, i32 %4) noinline #0 {
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %7, i64 512
  %9 = getelementptr inbounds nuw i8, ptr %7, i64 1024
  %10 = getelementptr inbounds nuw i8, ptr %7, i64 1536
  %11 = icmp eq i32 %3, 0
  br i1 %11, label %84, label %12
12:
  %13 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %14 = icmp eq i32 %13, 0
  %15 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %16 = icmp eq i32 %4, 0
  br label %17
17:
  %18 = phi i32 [ %3, %12 ], [ %82, %62 ]
  %19 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %18, i1 true)
  %20 = zext nneg i32 %19 to i64
  %21 = getelementptr inbounds nuw i64, ptr %7, i64 %20
  %22 = load i64, ptr %21, align 8
  %23 = getelementptr inbounds nuw i8, ptr %2, i64 %22
  br i1 %14, label %29, label %24
24:
  %25 = load ptr, ptr %15, align 8
  %26 = ptrtoint ptr %23 to i64
  %27 = ptrtoint ptr %25 to i64
  %28 = sub i64 %26, %27
  tail call void @use_object(ptr %0, i32 %1, i32 %19, i64 %28)
  br label %29
29:
  %30 = load i64, ptr %23, align 1
  %31 = getelementptr inbounds nuw i64, ptr %10, i64 %20
  store i64 %30, ptr %31, align 8
  %32 = getelementptr inbounds nuw i64, ptr %8, i64 %20
  %33 = load i64, ptr %32, align 8
  %34 = getelementptr inbounds nuw i64, ptr %9, i64 %20
  %35 = load i64, ptr %34, align 8
  %36 = load i64, ptr %23, align 1
  %37 = and i64 %36, 1048575
  %38 = lshr i64 %36, 20
  %39 = and i64 %38, 1048575
  %40 = icmp ugt i64 %33, %39
  br i1 %40, label %44, label %41
41:
  br i1 %16, label %62, label %42
42:
  %43 = icmp samesign ugt i64 %33, %37
  br i1 %43, label %44, label %62
44:
  %45 = shl nsw i32 -1, %19
  %46 = xor i32 %45, -1
  %47 = and i32 %3, %46
  %48 = icmp eq i32 %47, 0
  br i1 %48, label %84, label %49
49:
  %50 = phi i32 [ %60, %49 ], [ %47, %44 ]
  %51 = tail call range(i32 0, 33) i32 @llvm.ctlz.i32(i32 %50, i1 true)
  %52 = xor i32 %51, 31
  %53 = zext nneg i32 %52 to i64
  %54 = getelementptr inbounds nuw i64, ptr %10, i64 %53
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds nuw i64, ptr %7, i64 %53
  %57 = load i64, ptr %56, align 8
  %58 = getelementptr inbounds nuw i8, ptr %2, i64 %57
  store i64 %55, ptr %58, align 1
  %59 = shl nuw nsw i32 1, %52
  %60 = xor i32 %59, %50
  %61 = icmp eq i32 %59, %50
  br i1 %61, label %84, label %49
62:
  %63 = phi i64 [ %33, %42 ], [ 0, %41 ]
  %64 = sub nsw i64 %37, %63
  %65 = sub nsw i64 %39, %33
  %66 = lshr i64 %36, 40
  %67 = add i64 %66, %35
  %68 = and i64 %67, 8388607
  %69 = icmp eq i64 %39, %33
  %70 = icmp eq i64 %68, 2097152
  %71 = and i1 %69, %70
  %72 = select i1 %71, i64 %64, i64 %65
  %73 = shl nsw i64 %72, 20
  %74 = shl nuw nsw i64 %68, 40
  %75 = select i1 %71, i64 -9223372036854775808, i64 0
  %76 = and i64 %36, -9223372036854775808
  %77 = xor i64 %75, %76
  %78 = or disjoint i64 %77, %74
  %79 = or i64 %78, %73
  %80 = or i64 %79, %64
  store i64 %80, ptr %23, align 1
  %81 = add i32 %18, -1
  %82 = and i32 %81, %18
  %83 = icmp eq i32 %82, 0
  br i1 %83, label %84, label %17
84:
  %85 = phi i32 [ 0, %44 ], [ 1, %5 ], [ 0, %49 ], [ 1, %62 ]
  ret i32 %85
}

define internal void @test_objects(ptr %0, ptr %1, i32 %2, i32 %3, i32 %4, i32 %5) noinline #0 {
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 1024
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %11 = load ptr, ptr %10, align 8
  %12 = ptrtoint ptr %1 to i64
  %13 = ptrtoint ptr %11 to i64
  %14 = sub i64 %12, %13
  %15 = icmp eq i32 %3, 0
  %16 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  br i1 %15, label %48, label %17
17:
  %18 = icmp eq i32 %5, 0
  %19 = icmp eq i32 %16, 0
  br label %20
20:
  %21 = phi i32 [ 0, %17 ], [ %44, %55 ]
  %22 = phi i32 [ 0, %17 ], [ %47, %55 ]
  %23 = phi i32 [ %3, %17 ], [ %57, %55 ]
  %24 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %23, i1 true)
  %25 = zext nneg i32 %24 to i64
  %26 = getelementptr inbounds nuw i64, ptr %8, i64 %25
  %27 = load i64, ptr %26, align 8
  %28 = getelementptr inbounds nuw i8, ptr %1, i64 %27
  %29 = load i64, ptr %28, align 1
  %30 = lshr i64 %29, 63
  %31 = getelementptr inbounds nuw i64, ptr %9, i64 %25
  %32 = load i64, ptr %31, align 8
  %33 = and i64 %32, 1
  %34 = lshr i64 %32, 63
  %35 = select i1 %18, i64 %34, i64 %33
  %36 = icmp ne i64 %30, %35
  %37 = zext i1 %36 to i8
  %38 = load ptr, ptr %7, align 8
  %39 = getelementptr inbounds nuw i8, ptr %38, i64 1536
  %40 = getelementptr inbounds nuw i8, ptr %39, i64 %25
  store i8 %37, ptr %40, align 1
  %41 = icmp eq i64 %30, %35
  %42 = zext i1 %41 to i32
  %43 = shl nuw i32 %42, %24
  %44 = or i32 %43, %21
  %45 = trunc nuw nsw i64 %35 to i32
  %46 = shl nuw i32 %45, %24
  %47 = or i32 %46, %22
  br i1 %19, label %55, label %52
48:
  %49 = phi i32 [ 0, %6 ], [ %47, %55 ]
  %50 = phi i32 [ 0, %6 ], [ %44, %55 ]
  %51 = icmp eq i32 %16, 0
  br i1 %51, label %86, label %59
52:
  %53 = load i64, ptr %26, align 8
  %54 = add i64 %53, %14
  tail call void @use_object(ptr nonnull %0, i32 %2, i32 %24, i64 %54)
  br label %55
55:
  %56 = add i32 %23, -1
  %57 = and i32 %56, %23
  %58 = icmp eq i32 %57, 0
  br i1 %58, label %48, label %20
59:
  %60 = xor i32 %50, -1
  %61 = and i32 %3, %60
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %86, label %63
63:
  %64 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %61, i1 true)
  %65 = lshr i32 %49, %64
  %66 = and i32 %65, 1
  %67 = zext nneg i32 %64 to i64
  %68 = getelementptr inbounds nuw i64, ptr %8, i64 %67
  %69 = load i64, ptr %68, align 8
  %70 = add i64 %69, %14
  %71 = xor i32 %3, -1
  %72 = or i32 %50, %71
  %73 = icmp eq i32 %72, 0
  %74 = sub nsw i32 0, %66
  %75 = icmp eq i32 %49, %74
  %76 = select i1 %73, i1 %75, i1 false
  br i1 %76, label %77, label %81
77:
  %78 = tail call i32 @are_equal(ptr nonnull %8, i64 8)
  %79 = icmp ne i32 %78, 0
  %80 = zext i1 %79 to i32
  br label %81
81:
  %82 = phi i32 [ 0, %63 ], [ %80, %77 ]
  %83 = shl i64 %70, 1
  %84 = zext nneg i32 %66 to i64
  %85 = or disjoint i64 %83, %84
  tail call void @end_wait(ptr nonnull %0, i32 %2, i32 %64, i32 %82, i64 %85)
  br label %86
86:
  %87 = zext i32 %4 to i64
  %88 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %89 = load i64, ptr %88, align 8
  %90 = mul i64 %89, %87
  %91 = zext i32 %2 to i64
  %92 = add i64 %90, %91
  %93 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %94 = load ptr, ptr %93, align 8
  %95 = mul i64 %92, 264
  %96 = getelementptr inbounds nuw i8, ptr %94, i64 %95
  store i32 %50, ptr %96, align 4
  %97 = getelementptr inbounds nuw i8, ptr %96, i64 4
  store i32 %49, ptr %97, align 4
  %98 = getelementptr inbounds nuw i8, ptr %96, i64 8
  %99 = load ptr, ptr %7, align 8
  %100 = getelementptr inbounds nuw i8, ptr %99, i64 512
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 dereferenceable(256) %98, ptr nonnull align 1 dereferenceable(256) %100, i64 256, i1 false)
  ret void
}

define internal range(i32 0, 2) i32 @copy_bulk(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, i32 %5, i32 %6, i64 %7) noinline #0 {
  %9 = alloca i64, align 8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds nuw i8, ptr %11, i64 512
  %13 = getelementptr inbounds nuw i8, ptr %11, i64 1024
  %14 = getelementptr inbounds nuw i8, ptr %11, i64 1536
  %15 = getelementptr inbounds nuw i8, ptr %11, i64 2048
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %17 = load i64, ptr %16, align 8
  %18 = icmp eq i32 %5, 0
  br i1 %18, label %158, label %19
19:
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %21 = load i64, ptr %20, align 8
  %22 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %23 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %24 = icmp eq i32 %6, 0
  %25 = sub i64 %7, %21
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 128
  br label %28
28:
  %29 = phi i32 [ %5, %19 ], [ %72, %70 ]
  %30 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %29, i1 true)
  %31 = zext nneg i32 %30 to i64
  %32 = getelementptr inbounds nuw i64, ptr %13, i64 %31
  %33 = load i64, ptr %32, align 8
  %34 = and i64 %33, -16
  store i64 %34, ptr %32, align 8
  %35 = add i64 %34, -16
  %36 = icmp eq i64 %34, 0
  br i1 %36, label %49, label %37
37:
  %38 = getelementptr inbounds nuw i64, ptr %11, i64 %31
  %39 = load i64, ptr %38, align 8
  %40 = add i64 %39, %35
  %41 = load i64, ptr %22, align 8
  %42 = icmp ult i64 %40, %41
  br i1 %42, label %43, label %158
43:
  %44 = getelementptr inbounds nuw i64, ptr %12, i64 %31
  %45 = load i64, ptr %44, align 8
  %46 = add i64 %45, %35
  %47 = load i64, ptr %23, align 8
  %48 = icmp ult i64 %46, %47
  br i1 %48, label %49, label %158
49:
  br i1 %24, label %70, label %50
50:
  %51 = getelementptr inbounds nuw i64, ptr %15, i64 %31
  %52 = load i64, ptr %51, align 8
  %53 = and i64 %52, -4278190081
  %54 = add i64 %25, %53
  store i64 %54, ptr %51, align 8
  %55 = getelementptr inbounds nuw i64, ptr %14, i64 %31
  %56 = load i64, ptr %55, align 8
  %57 = lshr i64 %56, 24
  %58 = load i64, ptr %26, align 8
  %59 = load i64, ptr %27, align 8
  %60 = urem i64 %58, %59
  %61 = icmp eq i64 %57, %60
  %62 = and i64 %54, 7
  %63 = icmp eq i64 %62, 0
  %64 = select i1 %61, i1 %63, i1 false
  br i1 %64, label %65, label %158
65:
  %66 = icmp ugt i64 %54, %17
  %67 = sub nuw i64 %17, %54
  %68 = icmp ult i64 %67, 8
  %69 = select i1 %66, i1 true, i1 %68
  br i1 %69, label %158, label %70
70:
  %71 = add i32 %29, -1
  %72 = and i32 %71, %29
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %74, label %28
74:
  %75 = getelementptr inbounds nuw i8, ptr %2, i64 32
  %76 = load ptr, ptr %75, align 8
  %77 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %78 = load ptr, ptr %77, align 8
  %79 = icmp eq ptr %78, null
  %80 = icmp eq ptr %76, null
  br label %81
81:
  %82 = phi i32 [ %5, %74 ], [ %124, %122 ]
  %83 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %82, i1 true)
  %84 = zext nneg i32 %83 to i64
  br i1 %79, label %95, label %89
85:
  %86 = icmp eq i32 %6, 0
  br i1 %86, label %158, label %87
87:
  %88 = getelementptr inbounds nuw i8, ptr %0, i64 80
  br label %126
89:
  %90 = getelementptr inbounds nuw i64, ptr %12, i64 %84
  %91 = load i64, ptr %90, align 8
  %92 = getelementptr inbounds nuw i64, ptr %13, i64 %84
  %93 = load i64, ptr %92, align 8
  %94 = trunc i64 %93 to i32
  tail call void @note_range(ptr %0, ptr nonnull %78, i64 %91, i32 %94)
  br label %95
95:
  %96 = getelementptr inbounds nuw i64, ptr %11, i64 %84
  %97 = load i64, ptr %96, align 8
  %98 = getelementptr inbounds nuw i8, ptr %1, i64 %97
  %99 = getelementptr inbounds nuw i64, ptr %12, i64 %84
  %100 = load i64, ptr %99, align 8
  %101 = getelementptr inbounds nuw i8, ptr %3, i64 %100
  %102 = getelementptr inbounds nuw i64, ptr %13, i64 %84
  %103 = load i64, ptr %102, align 8
  tail call void @llvm.memmove.p0.p0.i64(ptr align 1 %98, ptr align 1 %101, i64 %103, i1 false)
  br i1 %80, label %122, label %104
104:
  %105 = load i64, ptr %102, align 8
  %106 = trunc i64 %105 to i32
  %107 = icmp eq i32 %106, 0
  br i1 %107, label %122, label %108
108:
  %109 = load i64, ptr %96, align 8
  %110 = getelementptr inbounds nuw i8, ptr %76, i64 %109
  br label %111
111:
  %112 = phi i32 [ 0, %108 ], [ %120, %111 ]
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %9)
  store i64 0, ptr %9, align 8
  %113 = sub nuw i32 %106, %112
  %114 = tail call i32 @llvm.umin.i32(i32 %113, i32 8)
  %115 = zext nneg i32 %114 to i64
  %116 = zext i32 %112 to i64
  %117 = getelementptr inbounds nuw i8, ptr %110, i64 %116
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %9, ptr nonnull align 1 %117, i64 %115, i1 false)
  %118 = load i64, ptr %9, align 8
  %119 = and i64 %118, 144680345676153346
  store i64 %119, ptr %9, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %117, ptr nonnull align 8 %9, i64 %115, i1 false)
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %9)
  %120 = add i32 %112, 8
  %121 = icmp ult i32 %120, %106
  br i1 %121, label %111, label %122
122:
  %123 = add i32 %82, -1
  %124 = and i32 %123, %82
  %125 = icmp eq i32 %124, 0
  br i1 %125, label %85, label %81
126:
  %127 = phi i32 [ %5, %87 ], [ %156, %126 ]
  %128 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 range(i32 1, 0) %127, i1 true)
  %129 = load ptr, ptr %88, align 8
  %130 = zext nneg i32 %128 to i64
  %131 = getelementptr inbounds nuw i64, ptr %15, i64 %130
  %132 = load i64, ptr %131, align 8
  %133 = getelementptr inbounds nuw i8, ptr %129, i64 %132
  %134 = getelementptr inbounds nuw i64, ptr %13, i64 %130
  %135 = load i64, ptr %134, align 8
  %136 = load i64, ptr %133, align 1
  %137 = and i64 %136, 1048575
  %138 = lshr i64 %136, 20
  %139 = and i64 %138, 1048575
  %140 = lshr i64 %136, 40
  %141 = sub i64 %140, %135
  %142 = and i64 %141, 8388607
  %143 = icmp eq i64 %139, 0
  %144 = icmp eq i64 %142, 2097152
  %145 = and i1 %143, %144
  %146 = select i1 %145, i64 %137, i64 %139
  %147 = shl nuw nsw i64 %146, 20
  %148 = shl nuw nsw i64 %142, 40
  %149 = or disjoint i64 %147, %148
  %150 = select i1 %145, i64 -9223372036854775808, i64 0
  %151 = and i64 %136, -9223372036854775808
  %152 = xor i64 %150, %151
  %153 = or disjoint i64 %149, %152
  %154 = or disjoint i64 %153, %137
  store i64 %154, ptr %133, align 1
  %155 = add i32 %127, -1
  %156 = and i32 %155, %127
  %157 = icmp eq i32 %156, 0
  br i1 %157, label %158, label %126
158:
  %159 = phi i32 [ 1, %85 ], [ 1, %8 ], [ 1, %126 ], [ 0, %37 ], [ 0, %43 ], [ 0, %50 ], [ 0, %65 ]
  ret i32 %159
}

define internal range(i32 0, 2) i32 @load_box(ptr %0, ptr %1, i32 %2, i32 %3, i64 %4, i64 %5, i64 %6, i64 %7, i64 %8, i32 %9, i64 %10) noinline #0 {
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %15 = load i64, ptr %14, align 8
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %19 = load i64, ptr %18, align 8
  %20 = urem i64 %17, %19
  %21 = icmp eq i32 %9, 0
  br i1 %21, label %27, label %22
22:
  %23 = icmp ne i64 %10, 0
  %24 = lshr i64 %10, %19
  %25 = icmp eq i64 %24, 0
  %26 = select i1 %23, i1 %25, i1 false
  br i1 %26, label %30, label %200
27:
  %28 = lshr i64 %5, 24
  %29 = icmp eq i64 %28, %20
  br i1 %29, label %30, label %200
30:
  %31 = and i64 %5, -4278190081
  %32 = add i64 %31, %6
  %33 = sub i64 %32, %13
  %34 = and i64 %7, -4278190081
  %35 = add i64 %34, %8
  %36 = sub i64 %35, %13
  %37 = and i64 %36, 7
  %38 = icmp eq i64 %37, 0
  br i1 %38, label %39, label %200
39:
  %40 = icmp ugt i64 %36, %15
  %41 = sub nuw i64 %15, %36
  %42 = icmp ult i64 %41, 8
  %43 = select i1 %40, i1 true, i1 %42
  br i1 %43, label %200, label %44
44:
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %46 = load ptr, ptr %45, align 8
  %47 = getelementptr inbounds nuw i8, ptr %1, i64 192
  %48 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %49 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %50 = load i64, ptr %49, align 8
  %51 = icmp eq i64 %4, %50
  br i1 %51, label %52, label %200
52:
  %53 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %54 = load ptr, ptr %53, align 8
  %55 = load <16 x i64>, ptr %54, align 1
  %56 = load <16 x i64>, ptr %1, align 1
  %57 = xor <16 x i64> %56, %55
  %58 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %57)
  %59 = icmp eq i64 %58, 0
  br i1 %59, label %60, label %200
60:
  %61 = phi i64 [ %73, %68 ], [ 0, %52 ]
  %62 = phi i64 [ %72, %68 ], [ 0, %52 ]
  %63 = getelementptr inbounds nuw i64, ptr %46, i64 %61
  %64 = load i64, ptr %63, align 8
  %65 = getelementptr inbounds nuw i64, ptr %47, i64 %61
  %66 = load i64, ptr %65, align 8
  %67 = icmp ugt i64 %64, %66
  br i1 %67, label %200, label %68
68:
  %69 = getelementptr inbounds nuw i64, ptr %48, i64 %61
  %70 = load i64, ptr %69, align 8
  %71 = mul i64 %70, %64
  %72 = add i64 %71, %62
  %73 = add nuw nsw i64 %61, 1
  %74 = icmp eq i64 %73, 5
  br i1 %74, label %75, label %60
75:
  %76 = load i64, ptr %46, align 8
  %77 = load i64, ptr %48, align 8
  %78 = mul i64 %77, %76
  %79 = and i64 %78, 15
  %80 = and i64 %33, 127
  %81 = or i64 %79, %80
  %82 = icmp eq i64 %81, 0
  br i1 %82, label %83, label %200
83:
  %84 = getelementptr inbounds nuw i8, ptr %1, i64 176
  %85 = load i64, ptr %84, align 8
  %86 = icmp ugt i64 %33, %15
  %87 = sub nuw i64 %15, %33
  %88 = icmp ugt i64 %85, %87
  %89 = select i1 %86, i1 true, i1 %88
  br i1 %89, label %200, label %90
90:
  %91 = shl nuw i64 1, %20
  %92 = select i1 %21, i64 %91, i64 %10
  %93 = icmp eq i64 %92, 0
  br i1 %93, label %200, label %94
94:
  %95 = getelementptr inbounds nuw i8, ptr %0, i64 88
  %96 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %97 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %98 = icmp eq i32 %97, 0
  %99 = getelementptr inbounds nuw i8, ptr %1, i64 160
  %100 = getelementptr inbounds nuw i8, ptr %1, i64 168
  %101 = getelementptr inbounds nuw i8, ptr %1, i64 144
  %102 = getelementptr inbounds nuw i8, ptr %1, i64 152
  %103 = getelementptr inbounds nuw i8, ptr %1, i64 184
  %104 = getelementptr inbounds nuw i8, ptr %1, i64 272
  %105 = zext i32 %97 to i64
  %106 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %107 = icmp ne i32 %106, 0
  %108 = getelementptr inbounds nuw i8, ptr %0, i64 208
  br label %109
109:
  %110 = phi i64 [ %92, %94 ], [ %198, %176 ]
  %111 = tail call range(i64 0, 65) i64 @llvm.cttz.i64(i64 %110, i1 true)
  %112 = sub i64 %111, %20
  %113 = load i64, ptr %95, align 8
  %114 = mul i64 %113, %112
  %115 = load ptr, ptr %96, align 8
  %116 = getelementptr inbounds nuw i8, ptr %115, i64 %114
  %117 = getelementptr inbounds nuw i8, ptr %116, i64 %36
  %118 = load i64, ptr %117, align 1
  %119 = tail call i64 @llvm.fshl.i64(i64 %36, i64 %118, i64 1)
  br i1 %98, label %121, label %120
120:
  tail call void @use_object(ptr nonnull %0, i32 %2, i32 %3, i64 %36)
  br label %121
121:
  %122 = load i64, ptr %99, align 8
  %123 = load ptr, ptr %100, align 8
  %124 = load ptr, ptr %101, align 8
  %125 = getelementptr inbounds nuw i8, ptr %124, i64 %72
  %126 = icmp eq i64 %122, 0
  br i1 %126, label %176, label %127
127:
  %128 = load ptr, ptr %102, align 8
  %129 = getelementptr i64, ptr %123, i64 %122
  %130 = icmp ne ptr %128, null
  %131 = and i1 %130, %107
  %132 = getelementptr i8, ptr %128, i64 %72
  %133 = icmp eq ptr %128, null
  br label %134
134:
  %135 = phi i64 [ 0, %127 ], [ %174, %170 ]
  %136 = getelementptr inbounds nuw i64, ptr %123, i64 %135
  %137 = load i64, ptr %136, align 8
  %138 = getelementptr i64, ptr %129, i64 %135
  %139 = load i64, ptr %138, align 8
  %140 = add i64 %139, %33
  %141 = lshr i64 %140, 7
  %142 = load i64, ptr %103, align 8
  %143 = and i64 %141, %142
  %144 = shl nuw nsw i64 %143, 4
  %145 = xor i64 %144, %140
  br i1 %98, label %151, label %146
146:
  %147 = load ptr, ptr %104, align 8
  %148 = add i64 %137, %72
  %149 = udiv i64 %148, %105
  %150 = getelementptr inbounds nuw i64, ptr %147, i64 %149
  tail call void @copy_chunk(ptr nonnull %0, i32 %2, i32 %3, i64 %145, ptr %150, i32 1, i64 %119)
  br label %151
151:
  br i1 %131, label %152, label %168
152:
  %153 = getelementptr i8, ptr %132, i64 %137
  br label %154
154:
  %155 = phi i64 [ 0, %152 ], [ %162, %154 ]
  %156 = phi i32 [ 0, %152 ], [ %161, %154 ]
  %157 = getelementptr i8, ptr %153, i64 %155
  %158 = load i8, ptr %157, align 1
  %159 = icmp ne i8 %158, 0
  %160 = zext i1 %159 to i32
  %161 = or i32 %156, %160
  %162 = add nuw nsw i64 %155, 1
  %163 = icmp eq i64 %162, 16
  br i1 %163, label %164, label %154
164:
  %165 = zext nneg i32 %161 to i64
  %166 = load i64, ptr %108, align 8
  %167 = or i64 %166, %165
  store i64 %167, ptr %108, align 8
  br label %169
168:
  br i1 %133, label %170, label %169
169:
  tail call void @note_range(ptr nonnull %0, ptr nonnull %132, i64 %137, i32 16)
  br label %170
170:
  %171 = getelementptr inbounds nuw i8, ptr %125, i64 %137
  %172 = load <16 x i8>, ptr %171, align 1
  %173 = getelementptr inbounds nuw i8, ptr %116, i64 %145
  store <16 x i8> %172, ptr %173, align 1
  %174 = add nuw i64 %135, 1
  %175 = icmp eq i64 %174, %122
  br i1 %175, label %176, label %134
176:
  %177 = load i64, ptr %117, align 1
  %178 = and i64 %177, 1048575
  %179 = lshr i64 %177, 20
  %180 = and i64 %179, 1048575
  %181 = lshr i64 %177, 40
  %182 = shl i64 %122, 4
  %183 = sub i64 %181, %182
  %184 = and i64 %183, 8388607
  %185 = icmp eq i64 %180, 0
  %186 = icmp eq i64 %184, 2097152
  %187 = and i1 %185, %186
  %188 = select i1 %187, i64 %178, i64 %180
  %189 = shl nuw nsw i64 %188, 20
  %190 = shl nuw nsw i64 %184, 40
  %191 = or disjoint i64 %189, %190
  %192 = select i1 %187, i64 -9223372036854775808, i64 0
  %193 = and i64 %177, -9223372036854775808
  %194 = xor i64 %192, %193
  %195 = or disjoint i64 %191, %194
  %196 = or disjoint i64 %195, %178
  store i64 %196, ptr %117, align 1
  %197 = add i64 %110, -1
  %198 = and i64 %197, %110
  %199 = icmp eq i64 %198, 0
  br i1 %199, label %200, label %109
200:
  %201 = phi i32 [ 0, %27 ], [ 0, %22 ], [ 0, %30 ], [ 0, %39 ], [ 0, %44 ], [ 0, %52 ], [ 0, %75 ], [ 0, %83 ], [ 1, %90 ], [ 1, %176 ], [ 0, %60 ]
  ret i32 %201
}

define internal range(i32 0, 2) i32 @store_box(ptr %0, ptr %1, i32 %2, i32 %3, i64 %4, i64 %5, i64 %6) noinline #0 {
  %8 = and i64 %5, -4278190081
  %9 = add i64 %8, %6
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 288
  %11 = load i64, ptr %10, align 8
  %12 = sub i64 %9, %11
  %13 = lshr i64 %5, 24
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %15 = load i64, ptr %14, align 8
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %17 = load i64, ptr %16, align 8
  %18 = urem i64 %15, %17
  %19 = icmp eq i64 %13, %18
  br i1 %19, label %20, label %121
20:
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds nuw i8, ptr %1, i64 192
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %25 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %26 = load i64, ptr %25, align 8
  %27 = icmp eq i64 %4, %26
  br i1 %27, label %28, label %121
28:
  %29 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %30 = load ptr, ptr %29, align 8
  %31 = load <16 x i64>, ptr %30, align 1
  %32 = load <16 x i64>, ptr %1, align 1
  %33 = xor <16 x i64> %32, %31
  %34 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %33)
  %35 = icmp eq i64 %34, 0
  br i1 %35, label %36, label %121
36:
  %37 = phi i64 [ %49, %44 ], [ 0, %28 ]
  %38 = phi i64 [ %48, %44 ], [ 0, %28 ]
  %39 = getelementptr inbounds nuw i64, ptr %22, i64 %37
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds nuw i64, ptr %23, i64 %37
  %42 = load i64, ptr %41, align 8
  %43 = icmp ugt i64 %40, %42
  br i1 %43, label %121, label %44
44:
  %45 = getelementptr inbounds nuw i64, ptr %24, i64 %37
  %46 = load i64, ptr %45, align 8
  %47 = mul i64 %46, %40
  %48 = add i64 %47, %38
  %49 = add nuw nsw i64 %37, 1
  %50 = icmp eq i64 %49, 5
  br i1 %50, label %51, label %36
51:
  %52 = load i64, ptr %22, align 8
  %53 = load i64, ptr %24, align 8
  %54 = mul i64 %53, %52
  %55 = and i64 %54, 15
  %56 = and i64 %12, 127
  %57 = or i64 %55, %56
  %58 = icmp eq i64 %57, 0
  br i1 %58, label %59, label %121
59:
  %60 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr inbounds nuw i8, ptr %1, i64 176
  %63 = load i64, ptr %62, align 8
  %64 = icmp ugt i64 %12, %61
  %65 = sub nuw i64 %61, %12
  %66 = icmp ugt i64 %63, %65
  %67 = select i1 %64, i1 true, i1 %66
  br i1 %67, label %121, label %68
68:
  %69 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %70 = load ptr, ptr %69, align 8
  %71 = getelementptr inbounds nuw i8, ptr %1, i64 160
  %72 = load i64, ptr %71, align 8
  %73 = getelementptr inbounds nuw i8, ptr %1, i64 168
  %74 = load ptr, ptr %73, align 8
  %75 = getelementptr inbounds nuw i8, ptr %1, i64 144
  %76 = load ptr, ptr %75, align 8
  %77 = getelementptr inbounds nuw i8, ptr %76, i64 %48
  %78 = icmp eq i64 %72, 0
  br i1 %78, label %121, label %79
79:
  %80 = getelementptr inbounds nuw i8, ptr %1, i64 152
  %81 = load ptr, ptr %80, align 8
  %82 = getelementptr i64, ptr %74, i64 %72
  %83 = getelementptr inbounds nuw i8, ptr %1, i64 184
  %84 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %85 = icmp eq i32 %84, 0
  %86 = getelementptr inbounds nuw i8, ptr %1, i64 272
  %87 = zext i32 %84 to i64
  %88 = icmp eq ptr %81, null
  %89 = getelementptr inbounds nuw i8, ptr %81, i64 %48
  br label %90
90:
  %91 = phi i64 [ 0, %79 ], [ %119, %118 ]
  %92 = getelementptr inbounds nuw i64, ptr %74, i64 %91
  %93 = load i64, ptr %92, align 8
  %94 = getelementptr i64, ptr %82, i64 %91
  %95 = load i64, ptr %94, align 8
  %96 = add i64 %95, %12
  %97 = lshr i64 %96, 7
  %98 = load i64, ptr %83, align 8
  %99 = and i64 %97, %98
  %100 = shl nuw nsw i64 %99, 4
  %101 = xor i64 %100, %96
  br i1 %85, label %107, label %102
102:
  %103 = load ptr, ptr %86, align 8
  %104 = add i64 %93, %48
  %105 = udiv i64 %104, %87
  %106 = getelementptr inbounds nuw i64, ptr %103, i64 %105
  tail call void @copy_chunk(ptr %0, i32 %2, i32 %3, i64 %101, ptr %106, i32 0, i64 0)
  br label %107
107:
  %108 = getelementptr inbounds nuw i8, ptr %70, i64 %101
  %109 = load <16 x i8>, ptr %108, align 1
  %110 = getelementptr inbounds nuw i8, ptr %77, i64 %93
  store <16 x i8> %109, ptr %110, align 1
  br i1 %88, label %118, label %111
111:
  %112 = getelementptr inbounds nuw i8, ptr %89, i64 %93
  %113 = load i64, ptr %112, align 1
  %114 = and i64 %113, 144680345676153346
  store i64 %114, ptr %112, align 1
  %115 = getelementptr inbounds nuw i8, ptr %112, i64 8
  %116 = load i64, ptr %115, align 1
  %117 = and i64 %116, 144680345676153346
  store i64 %117, ptr %115, align 1
  br label %118
118:
  %119 = add nuw i64 %91, 1
  %120 = icmp eq i64 %119, %72
  br i1 %120, label %121, label %90
121:
  %122 = phi i32 [ 0, %7 ], [ 0, %20 ], [ 0, %28 ], [ 0, %51 ], [ 0, %59 ], [ 1, %68 ], [ 1, %118 ], [ 0, %36 ]
  ret i32 %122
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
  br i1 %15, label %182, label %16
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
  br i1 %35, label %36, label %93
36:
  %37 = or disjoint i64 %34, 4
  %38 = trunc nuw nsw i64 %34 to i32
  %39 = shl nsw i32 -1, %38
  %40 = xor i32 %39, -1
  %41 = zext nneg i32 %40 to i64
  %42 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %43 = icmp eq i32 %42, 0
  %44 = icmp eq ptr %19, null
  %45 = or disjoint i64 %8, 15
  br label %46
46:
  %47 = phi ptr [ %4, %36 ], [ %91, %89 ]
  %48 = phi i64 [ %8, %36 ], [ %90, %89 ]
  %49 = and i64 %48, 7
  %50 = shl nuw nsw i64 %49, %37
  %51 = lshr i64 %48, 3
  %52 = mul i64 %51, %30
  %53 = add i64 %52, %26
  %54 = add i64 %53, %50
  br label %55
55:
  %56 = phi i1 [ true, %46 ], [ false, %88 ]
  %57 = phi i64 [ 0, %46 ], [ 1, %88 ]
  %58 = lshr i64 %57, %34
  %59 = mul nuw nsw i64 %58, %28
  %60 = and i64 %57, %41
  %61 = shl nuw nsw i64 %60, 4
  %62 = add i64 %54, %59
  %63 = add i64 %62, %61
  %64 = lshr i64 %63, 7
  %65 = sub nsw i64 %64, %31
  %66 = and i64 %65, %41
  %67 = shl nuw nsw i64 %66, 4
  %68 = xor i64 %67, %63
  %69 = icmp ugt i64 %68, %21
  %70 = sub nuw i64 %21, %68
  %71 = icmp ult i64 %70, 16
  %72 = select i1 %69, i1 true, i1 %71
  br i1 %72, label %182, label %73
73:
  br i1 %43, label %75, label %74
74:
  tail call void @read_chunk(ptr %0, i32 %2, i32 0, i64 %68)
  br label %75
75:
  %76 = getelementptr inbounds nuw i8, ptr %19, i64 %68
  br i1 %44, label %182, label %77
77:
  %78 = shl nuw nsw i64 %57, 8
  %79 = getelementptr inbounds nuw i8, ptr %47, i64 %78
  br label %80
80:
  %81 = phi i64 [ 0, %77 ], [ %86, %80 ]
  %82 = getelementptr inbounds nuw i32, ptr %76, i64 %81
  %83 = load i32, ptr %82, align 1
  %84 = shl nuw nsw i64 %81, 6
  %85 = getelementptr inbounds nuw i8, ptr %79, i64 %84
  store i32 %83, ptr %85, align 4
  %86 = add nuw nsw i64 %81, 1
  %87 = icmp eq i64 %86, 4
  br i1 %87, label %88, label %80
88:
  br i1 %56, label %55, label %89
89:
  %90 = add nuw nsw i64 %48, 1
  %91 = getelementptr inbounds nuw i8, ptr %47, i64 4
  %92 = icmp eq i64 %48, %45
  br i1 %92, label %182, label %46
93:
  %94 = shl nuw nsw i64 16, %34
  %95 = icmp eq i64 %34, 0
  %96 = select i1 %95, i64 %30, i64 %28
  %97 = select i1 %95, i64 %28, i64 %30
  %98 = lshr exact i64 %8, 3
  %99 = add nuw nsw i64 %8, 16
  %100 = lshr exact i64 %99, 3
  %101 = trunc nuw nsw i64 %34 to i32
  %102 = shl nsw i32 -1, %101
  %103 = xor i32 %102, -1
  %104 = zext nneg i32 %103 to i64
  %105 = or disjoint i64 %34, 4
  %106 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %107 = icmp eq i32 %106, 0
  %108 = add i64 %26, %94
  %109 = icmp ne ptr %19, null
  br label %110
110:
  %111 = phi ptr [ %4, %93 ], [ %179, %178 ]
  %112 = phi i64 [ %98, %93 ], [ %180, %178 ]
  %113 = and i64 %112, %104
  %114 = shl nuw nsw i64 %113, 4
  %115 = lshr i64 %112, %34
  %116 = mul i64 %115, %96
  %117 = add i64 %114, %116
  br label %118
118:
  %119 = phi i64 [ 0, %110 ], [ %176, %175 ]
  %120 = and i64 %119, 6
  %121 = shl nuw nsw i64 %120, %105
  %122 = add i64 %117, %121
  %123 = lshr i64 %119, 3
  %124 = mul nuw nsw i64 %123, %97
  %125 = add i64 %122, %124
  %126 = add i64 %125, %26
  %127 = lshr i64 %126, 7
  %128 = sub nsw i64 %127, %31
  %129 = and i64 %128, %104
  %130 = shl nuw nsw i64 %129, 4
  %131 = xor i64 %130, %126
  %132 = icmp ugt i64 %131, %21
  %133 = sub nuw i64 %21, %131
  %134 = icmp ult i64 %133, 16
  %135 = select i1 %132, i1 true, i1 %134
  br i1 %135, label %140, label %136
136:
  br i1 %107, label %138, label %137
137:
  tail call void @read_chunk(ptr %0, i32 %2, i32 0, i64 %131)
  br label %138
138:
  %139 = getelementptr inbounds nuw i8, ptr %19, i64 %131
  br label %140
140:
  %141 = phi ptr [ %139, %138 ], [ null, %118 ]
  %142 = add i64 %108, %125
  %143 = lshr i64 %142, 7
  %144 = sub nsw i64 %143, %31
  %145 = and i64 %144, %104
  %146 = shl nuw nsw i64 %145, 4
  %147 = xor i64 %146, %142
  %148 = icmp ugt i64 %147, %21
  %149 = sub nuw i64 %21, %147
  %150 = icmp ult i64 %149, 16
  %151 = select i1 %148, i1 true, i1 %150
  br i1 %151, label %182, label %152
152:
  br i1 %107, label %154, label %153
153:
  tail call void @read_chunk(ptr %0, i32 %2, i32 0, i64 %147)
  br label %154
154:
  %155 = getelementptr inbounds nuw i8, ptr %19, i64 %147
  %156 = icmp ne ptr %141, null
  %157 = select i1 %156, i1 %109, i1 false
  br i1 %157, label %158, label %182
158:
  %159 = shl nuw nsw i64 %119, 5
  %160 = getelementptr i8, ptr %111, i64 %159
  br label %161
161:
  %162 = phi i64 [ 0, %158 ], [ %173, %161 ]
  %163 = load <8 x i16>, ptr %155, align 1
  %164 = trunc nuw nsw i64 %162 to i32
  %165 = extractelement <8 x i16> %163, i32 %164
  %166 = zext i16 %165 to i32
  %167 = shl nuw i32 %166, 16
  %168 = load <8 x i16>, ptr %141, align 1
  %169 = extractelement <8 x i16> %168, i32 %164
  %170 = zext i16 %169 to i32
  %171 = or disjoint i32 %167, %170
  %172 = getelementptr i32, ptr %160, i64 %162
  store i32 %171, ptr %172, align 4
  %173 = add nuw nsw i64 %162, 1
  %174 = icmp eq i64 %173, 8
  br i1 %174, label %175, label %161
175:
  %176 = add nuw nsw i64 %119, 2
  %177 = icmp samesign ult i64 %119, 14
  br i1 %177, label %118, label %178
178:
  %179 = getelementptr inbounds nuw i8, ptr %111, i64 32
  %180 = add nuw nsw i64 %112, 1
  %181 = icmp eq i64 %180, %100
  br i1 %181, label %182, label %110
182:
  %183 = phi i32 [ 0, %5 ], [ 0, %55 ], [ 0, %75 ], [ 1, %89 ], [ 0, %140 ], [ 0, %154 ], [ 1, %178 ]
  ret i32 %183
}

define internal range(i32 0, 2) i32 @read_right(ptr %0, i32 %1, i32 %2, i64 %3, i64 %4, i32 %5, ptr %6) noinline #0 {
  %8 = shl i64 %4, 2
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %10 = load ptr, ptr %9, align 8
  %11 = shl i32 %1, 9
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds nuw i8, ptr %10, i64 %12
  %14 = tail call i32 @are_equal(ptr %13, i64 8)
  %15 = icmp eq i32 %14, 0
  br i1 %15, label %189, label %16
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
  %35 = shl nuw nsw i64 16, %34
  %36 = icmp eq i32 %5, 0
  br i1 %36, label %37, label %97
37:
  %38 = icmp eq i64 %3, 0
  br i1 %38, label %189, label %39
39:
  %40 = or disjoint i64 %34, 4
  %41 = icmp eq i64 %4, 0
  %42 = trunc nuw nsw i64 %34 to i32
  %43 = shl nsw i32 -1, %42
  %44 = xor i32 %43, -1
  %45 = zext nneg i32 %44 to i64
  %46 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %47 = icmp eq i32 %46, 0
  %48 = icmp eq ptr %19, null
  br label %49
49:
  %50 = phi ptr [ %6, %39 ], [ %95, %93 ]
  %51 = phi i64 [ 0, %39 ], [ %94, %93 ]
  br i1 %41, label %93, label %52
52:
  %53 = lshr i64 %51, 3
  %54 = mul i64 %53, %30
  %55 = and i64 %51, 7
  %56 = shl nuw nsw i64 %55, %40
  %57 = add i64 %54, %26
  %58 = add i64 %57, %56
  br label %59
59:
  %60 = phi i64 [ 0, %52 ], [ %91, %90 ]
  %61 = lshr i64 %60, %34
  %62 = mul i64 %61, %28
  %63 = and i64 %60, %45
  %64 = shl nuw nsw i64 %63, 4
  %65 = add i64 %58, %62
  %66 = add i64 %65, %64
  %67 = lshr i64 %66, 7
  %68 = sub nsw i64 %67, %31
  %69 = and i64 %68, %45
  %70 = shl nuw nsw i64 %69, 4
  %71 = xor i64 %70, %66
  %72 = icmp ugt i64 %71, %21
  %73 = sub nuw i64 %21, %71
  %74 = icmp ult i64 %73, 16
  %75 = select i1 %72, i1 true, i1 %74
  br i1 %75, label %189, label %76
76:
  br i1 %47, label %78, label %77
77:
  tail call void @read_chunk(ptr %0, i32 %2, i32 0, i64 %71)
  br label %78
78:
  %79 = getelementptr inbounds nuw i8, ptr %19, i64 %71
  br i1 %48, label %189, label %80
80:
  %81 = shl i64 %60, 4
  %82 = getelementptr i8, ptr %50, i64 %81
  br label %83
83:
  %84 = phi i64 [ 0, %80 ], [ %88, %83 ]
  %85 = getelementptr inbounds nuw i32, ptr %79, i64 %84
  %86 = load i32, ptr %85, align 1
  %87 = getelementptr i32, ptr %82, i64 %84
  store i32 %86, ptr %87, align 4
  %88 = add nuw nsw i64 %84, 1
  %89 = icmp eq i64 %88, 4
  br i1 %89, label %90, label %83
90:
  %91 = add nuw i64 %60, 1
  %92 = icmp eq i64 %91, %4
  br i1 %92, label %93, label %59
93:
  %94 = add nuw i64 %51, 1
  %95 = getelementptr inbounds nuw i32, ptr %50, i64 %8
  %96 = icmp eq i64 %94, %3
  br i1 %96, label %189, label %49
97:
  %98 = icmp eq i64 %34, 0
  %99 = select i1 %98, i64 %30, i64 %28
  %100 = select i1 %98, i64 %28, i64 %30
  %101 = lshr i64 %3, 3
  %102 = icmp ult i64 %3, 8
  br i1 %102, label %189, label %103
103:
  %104 = trunc nuw nsw i64 %34 to i32
  %105 = shl nsw i32 -1, %104
  %106 = xor i32 %105, -1
  %107 = zext nneg i32 %106 to i64
  %108 = shl i64 %4, 3
  %109 = icmp eq i64 %108, 0
  %110 = or disjoint i64 %34, 4
  %111 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %112 = icmp eq i32 %111, 0
  %113 = add i64 %26, %35
  %114 = icmp ne ptr %19, null
  %115 = shl i64 %4, 7
  br label %116
116:
  %117 = phi ptr [ %6, %103 ], [ %186, %185 ]
  %118 = phi i64 [ 0, %103 ], [ %187, %185 ]
  %119 = and i64 %118, %107
  %120 = shl nuw nsw i64 %119, 4
  %121 = lshr i64 %118, %34
  %122 = mul i64 %121, %99
  %123 = add i64 %120, %122
  br i1 %109, label %185, label %124
124:
  %125 = phi i64 [ %183, %182 ], [ 0, %116 ]
  %126 = and i64 %125, 6
  %127 = shl nuw nsw i64 %126, %110
  %128 = add i64 %123, %127
  %129 = lshr i64 %125, 3
  %130 = mul i64 %129, %100
  %131 = add i64 %128, %130
  %132 = add i64 %131, %26
  %133 = lshr i64 %132, 7
  %134 = sub nsw i64 %133, %31
  %135 = and i64 %134, %107
  %136 = shl nuw nsw i64 %135, 4
  %137 = xor i64 %136, %132
  %138 = icmp ugt i64 %137, %21
  %139 = sub nuw i64 %21, %137
  %140 = icmp ult i64 %139, 16
  %141 = select i1 %138, i1 true, i1 %140
  br i1 %141, label %146, label %142
142:
  br i1 %112, label %144, label %143
143:
  tail call void @read_chunk(ptr %0, i32 %2, i32 0, i64 %137)
  br label %144
144:
  %145 = getelementptr inbounds nuw i8, ptr %19, i64 %137
  br label %146
146:
  %147 = phi ptr [ %145, %144 ], [ null, %124 ]
  %148 = add i64 %113, %131
  %149 = lshr i64 %148, 7
  %150 = sub nsw i64 %149, %31
  %151 = and i64 %150, %107
  %152 = shl nuw nsw i64 %151, 4
  %153 = xor i64 %152, %148
  %154 = icmp ugt i64 %153, %21
  %155 = sub nuw i64 %21, %153
  %156 = icmp ult i64 %155, 16
  %157 = select i1 %154, i1 true, i1 %156
  br i1 %157, label %189, label %158
158:
  br i1 %112, label %160, label %159
159:
  tail call void @read_chunk(ptr %0, i32 %2, i32 0, i64 %153)
  br label %160
160:
  %161 = getelementptr inbounds nuw i8, ptr %19, i64 %153
  %162 = icmp ne ptr %147, null
  %163 = select i1 %162, i1 %114, i1 false
  br i1 %163, label %164, label %189
164:
  %165 = lshr exact i64 %125, 1
  %166 = getelementptr i32, ptr %117, i64 %165
  br label %167
167:
  %168 = phi i64 [ 0, %164 ], [ %180, %167 ]
  %169 = load <8 x i16>, ptr %161, align 1
  %170 = trunc nuw nsw i64 %168 to i32
  %171 = extractelement <8 x i16> %169, i32 %170
  %172 = zext i16 %171 to i32
  %173 = shl nuw i32 %172, 16
  %174 = load <8 x i16>, ptr %147, align 1
  %175 = extractelement <8 x i16> %174, i32 %170
  %176 = zext i16 %175 to i32
  %177 = or disjoint i32 %173, %176
  %178 = mul i64 %8, %168
  %179 = getelementptr i32, ptr %166, i64 %178
  store i32 %177, ptr %179, align 4
  %180 = add nuw nsw i64 %168, 1
  %181 = icmp eq i64 %180, 8
  br i1 %181, label %182, label %167
182:
  %183 = add nuw i64 %125, 2
  %184 = icmp ult i64 %183, %108
  br i1 %184, label %124, label %185
185:
  %186 = getelementptr inbounds nuw i8, ptr %117, i64 %115
  %187 = add nuw nsw i64 %118, 1
  %188 = icmp eq i64 %187, %101
  br i1 %188, label %189, label %116
189:
  %190 = phi i32 [ 0, %7 ], [ 1, %37 ], [ 1, %97 ], [ 0, %59 ], [ 0, %78 ], [ 1, %93 ], [ 0, %146 ], [ 0, %160 ], [ 1, %185 ]
  ret i32 %190
}

define internal range(i32 0, 2) i32 @transfer_fragment(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, ptr %6, i32 %7, i32 %8, i32 %9, i32 %10, i32 %11) noinline #0 {
  %13 = icmp eq i32 %9, 0
  %14 = select i1 %13, i32 1, i32 %8
  %15 = mul i32 %8, %7
  %16 = icmp eq i32 %15, 0
  br i1 %16, label %133, label %17
17:
  %18 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %19 = zext i32 %10 to i64
  %20 = insertelement <32 x i64> poison, i64 %19, i64 0
  %21 = shufflevector <32 x i64> %20, <32 x i64> poison, <32 x i32> zeroinitializer
  %22 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %23 = zext i32 %15 to i64
  br label %39
24:
  %25 = add nuw nsw i64 %40, 1
  %26 = icmp eq i64 %25, %23
  br i1 %26, label %27, label %39
27:
  %28 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %29 = zext i32 %10 to i64
  %30 = insertelement <32 x i64> poison, i64 %29, i64 0
  %31 = shufflevector <32 x i64> %30, <32 x i64> poison, <32 x i32> zeroinitializer
  %32 = mul i32 %10, %8
  %33 = mul i32 %14, %10
  %34 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %35 = icmp eq i32 %11, 0
  %36 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %37 = icmp eq i32 %36, 0
  %38 = zext i32 %33 to i64
  br label %65
39:
  %40 = phi i64 [ 0, %17 ], [ %25, %24 ]
  %41 = shl nuw i64 %40, 1
  %42 = and i64 %41, 4294967294
  %43 = getelementptr inbounds nuw <32 x i16>, ptr %6, i64 %42
  %44 = load <32 x i16>, ptr %43, align 2
  %45 = zext <32 x i16> %44 to <32 x i64>
  %46 = getelementptr inbounds nuw i8, ptr %43, i64 64
  %47 = load <32 x i16>, ptr %46, align 2
  %48 = zext <32 x i16> %47 to <32 x i64>
  %49 = load ptr, ptr %18, align 8
  %50 = getelementptr inbounds nuw i8, ptr %49, i64 1536
  %51 = load <32 x i64>, ptr %50, align 8
  %52 = mul <32 x i64> %51, %45
  %53 = add <32 x i64> %52, %48
  %54 = mul <32 x i64> %53, %21
  %55 = getelementptr inbounds nuw i8, ptr %49, i64 1024
  %56 = load <32 x i64>, ptr %55, align 8
  %57 = add <32 x i64> %54, %56
  store <32 x i64> %57, ptr %49, align 8
  %58 = load i64, ptr %22, align 8
  %59 = insertelement <32 x i64> poison, i64 %58, i64 0
  %60 = shufflevector <32 x i64> %59, <32 x i64> poison, <32 x i32> zeroinitializer
  %61 = icmp uge <32 x i64> %57, %60
  %62 = bitcast <32 x i1> %61 to i32
  %63 = and i32 %5, %62
  %64 = icmp eq i32 %63, 0
  br i1 %64, label %24, label %133
65:
  %66 = phi i32 [ 0, %27 ], [ %131, %130 ]
  %67 = shl i32 %66, 1
  %68 = zext i32 %67 to i64
  %69 = getelementptr inbounds nuw <32 x i16>, ptr %6, i64 %68
  %70 = load <32 x i16>, ptr %69, align 2
  %71 = zext <32 x i16> %70 to <32 x i64>
  %72 = getelementptr inbounds nuw i8, ptr %69, i64 64
  %73 = load <32 x i16>, ptr %72, align 2
  %74 = zext <32 x i16> %73 to <32 x i64>
  %75 = load ptr, ptr %28, align 8
  %76 = getelementptr inbounds nuw i8, ptr %75, i64 1536
  %77 = load <32 x i64>, ptr %76, align 8
  %78 = mul <32 x i64> %77, %71
  %79 = add <32 x i64> %78, %74
  %80 = mul <32 x i64> %79, %31
  %81 = getelementptr inbounds nuw i8, ptr %75, i64 1024
  %82 = load <32 x i64>, ptr %81, align 8
  %83 = add <32 x i64> %80, %82
  store <32 x i64> %83, ptr %75, align 8
  %84 = load ptr, ptr %28, align 8
  %85 = udiv i32 %66, %8
  %86 = shl i32 %85, 9
  %87 = add i32 %86, 2048
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds nuw i8, ptr %84, i64 %88
  %90 = urem i32 %66, %8
  %91 = mul i32 %90, %10
  %92 = zext i32 %91 to i64
  %93 = getelementptr inbounds nuw i8, ptr %89, i64 %92
  %94 = getelementptr inbounds nuw i8, ptr %84, i64 512
  %95 = load ptr, ptr %34, align 8
  br i1 %35, label %114, label %96
96:
  br i1 %37, label %98, label %97
97:
  tail call void @observe_loads(ptr nonnull %0, ptr %1, i32 %2, ptr nonnull %4, ptr %3, i32 %5, i64 0, i32 1, i32 1, i32 %33)
  br label %101
98:
  %99 = icmp eq ptr %95, null
  br i1 %99, label %101, label %100
100:
  tail call void @note_lanes(ptr nonnull %0, ptr nonnull %95, i32 %5, i64 0, i32 %33)
  br label %101
101:
  tail call void @load_lanes(ptr nonnull %0, ptr %3, i32 %5, i64 0, i32 %33)
  br label %102
102:
  %103 = phi i64 [ 0, %101 ], [ %111, %102 ]
  %104 = trunc nuw nsw i64 %103 to i32
  %105 = mul i32 %32, %104
  %106 = zext i32 %105 to i64
  %107 = getelementptr inbounds nuw i8, ptr %93, i64 %106
  %108 = mul i32 %33, %104
  %109 = zext i32 %108 to i64
  %110 = getelementptr inbounds nuw i8, ptr %94, i64 %109
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %107, ptr nonnull align 1 %110, i64 %38, i1 false)
  %111 = add nuw nsw i64 %103, 1
  %112 = icmp eq i64 %111, 32
  br i1 %112, label %130, label %102
113:
  br i1 %37, label %126, label %125
114:
  %115 = phi i64 [ %123, %114 ], [ 0, %65 ]
  %116 = trunc nuw nsw i64 %115 to i32
  %117 = mul i32 %33, %116
  %118 = zext i32 %117 to i64
  %119 = getelementptr inbounds nuw i8, ptr %94, i64 %118
  %120 = mul i32 %32, %116
  %121 = zext i32 %120 to i64
  %122 = getelementptr inbounds nuw i8, ptr %93, i64 %121
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %119, ptr align 1 %122, i64 %38, i1 false)
  %123 = add nuw nsw i64 %115, 1
  %124 = icmp eq i64 %123, 32
  br i1 %124, label %113, label %114
125:
  tail call void @observe_stores(ptr %0, ptr %1, i32 %2, ptr %4, ptr %3, i32 %5, i64 0, i32 1, i32 %33)
  br label %127
126:
  tail call void @store_lanes(ptr %0, ptr %3, i32 %5, i64 0, i32 %33)
  br label %127
127:
  %128 = icmp eq ptr %95, null
  br i1 %128, label %130, label %129
129:
  tail call void @mark_lanes(ptr %0, ptr nonnull %95, i32 %5, i64 0, i32 %33)
  br label %130
130:
  %131 = add i32 %66, %14
  %132 = icmp ult i32 %131, %15
  br i1 %132, label %65, label %133
133:
  %134 = phi i32 [ 1, %12 ], [ 1, %130 ], [ 0, %39 ]
  ret i32 %134
}

define internal void @transfer_matrices(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, i32 %6, i32 %7) noinline #0 {
  %9 = alloca [8 x <8 x i16>], align 16
  %10 = alloca [8 x <8 x i16>], align 16
  %11 = alloca [8 x <8 x i16>], align 16
  %12 = icmp eq i32 %5, 0
  br i1 %12, label %21, label %13
13:
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %15 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %16 = icmp eq i32 %15, 0
  %17 = icmp eq i32 %6, 0
  %18 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %19 = icmp eq i32 %7, 0
  %20 = zext i32 %5 to i64
  br label %22
21:
  ret void
22:
  %23 = phi i64 [ 0, %13 ], [ %189, %188 ]
  %24 = load ptr, ptr %14, align 8
  %25 = getelementptr inbounds nuw i8, ptr %24, i64 1024
  %26 = shl i64 %23, 3
  %27 = and i64 %26, 4294967288
  %28 = getelementptr inbounds nuw i64, ptr %25, i64 %27
  %29 = shl i64 %23, 9
  %30 = add i64 %29, 2048
  %31 = and i64 %30, 4294966784
  %32 = getelementptr inbounds nuw i8, ptr %24, i64 %31
  br i1 %16, label %33, label %102
33:
  %34 = load ptr, ptr %18, align 8
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %11)
  br i1 %19, label %35, label %56
35:
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 dereferenceable(128) %11, ptr nonnull align 1 dereferenceable(128) %32, i64 128, i1 false)
  br i1 %17, label %56, label %36
36:
  %37 = phi i32 [ %39, %38 ], [ 0, %35 ]
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %10)
  br label %41
38:
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 dereferenceable(128) %11, ptr nonnull align 16 dereferenceable(128) %10, i64 128, i1 false)
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %10)
  %39 = add nuw nsw i32 %37, 1
  %40 = icmp eq i32 %39, 3
  br i1 %40, label %56, label %36
41:
  %42 = phi i64 [ 0, %36 ], [ %54, %41 ]
  %43 = getelementptr inbounds nuw <8 x i16>, ptr %11, i64 %42
  %44 = load <8 x i16>, ptr %43, align 16
  %45 = or disjoint i64 %42, 4
  %46 = getelementptr inbounds nuw <8 x i16>, ptr %11, i64 %45
  %47 = load <8 x i16>, ptr %46, align 16
  %48 = shufflevector <8 x i16> %44, <8 x i16> %47, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %49 = shl nuw nsw i64 %42, 1
  %50 = getelementptr inbounds nuw [8 x <8 x i16>], ptr %10, i64 0, i64 %49
  store <8 x i16> %48, ptr %50, align 16
  %51 = shufflevector <8 x i16> %44, <8 x i16> %47, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %52 = or disjoint i64 %49, 1
  %53 = getelementptr inbounds nuw [8 x <8 x i16>], ptr %10, i64 0, i64 %52
  store <8 x i16> %51, ptr %53, align 16
  %54 = add nuw nsw i64 %42, 1
  %55 = icmp eq i64 %54, 4
  br i1 %55, label %38, label %41
56:
  %57 = icmp eq ptr %34, null
  br label %58
58:
  %59 = phi i64 [ 0, %56 ], [ %73, %72 ]
  %60 = getelementptr inbounds nuw i64, ptr %28, i64 %59
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr inbounds nuw i8, ptr %3, i64 %61
  br i1 %19, label %63, label %74
63:
  %64 = getelementptr inbounds nuw [8 x <8 x i16>], ptr %11, i64 0, i64 %59
  %65 = load <8 x i16>, ptr %64, align 16
  store <8 x i16> %65, ptr %62, align 2
  br i1 %57, label %69, label %66
66:
  %67 = load i64, ptr %60, align 8
  %68 = getelementptr inbounds nuw i8, ptr %34, i64 %67
  tail call void @llvm.memset.p0.i64(ptr nonnull align 1 dereferenceable(16) %68, i8 0, i64 16, i1 false)
  br label %69
69:
  %70 = add nuw nsw i64 %59, 1
  %71 = icmp eq i64 %70, 8
  br i1 %71, label %101, label %72
72:
  %73 = phi i64 [ %70, %69 ], [ %77, %74 ]
  br label %58
74:
  %75 = load <8 x i16>, ptr %62, align 2
  %76 = getelementptr inbounds nuw [8 x <8 x i16>], ptr %11, i64 0, i64 %59
  store <8 x i16> %75, ptr %76, align 16
  %77 = add nuw nsw i64 %59, 1
  %78 = icmp eq i64 %77, 8
  br i1 %78, label %79, label %72
79:
  br i1 %17, label %100, label %80
80:
  %81 = phi i32 [ %83, %82 ], [ 0, %79 ]
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %9)
  br label %85
82:
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 dereferenceable(128) %11, ptr nonnull align 16 dereferenceable(128) %9, i64 128, i1 false)
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %9)
  %83 = add nuw nsw i32 %81, 1
  %84 = icmp eq i32 %83, 3
  br i1 %84, label %100, label %80
85:
  %86 = phi i64 [ 0, %80 ], [ %98, %85 ]
  %87 = getelementptr inbounds nuw <8 x i16>, ptr %11, i64 %86
  %88 = load <8 x i16>, ptr %87, align 16
  %89 = or disjoint i64 %86, 4
  %90 = getelementptr inbounds nuw <8 x i16>, ptr %11, i64 %89
  %91 = load <8 x i16>, ptr %90, align 16
  %92 = shufflevector <8 x i16> %88, <8 x i16> %91, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %93 = shl nuw nsw i64 %86, 1
  %94 = getelementptr inbounds nuw [8 x <8 x i16>], ptr %9, i64 0, i64 %93
  store <8 x i16> %92, ptr %94, align 16
  %95 = shufflevector <8 x i16> %88, <8 x i16> %91, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %96 = or disjoint i64 %93, 1
  %97 = getelementptr inbounds nuw [8 x <8 x i16>], ptr %9, i64 0, i64 %96
  store <8 x i16> %95, ptr %97, align 16
  %98 = add nuw nsw i64 %86, 1
  %99 = icmp eq i64 %98, 4
  br i1 %99, label %82, label %85
100:
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 dereferenceable(128) %32, ptr nonnull align 16 dereferenceable(128) %11, i64 128, i1 false)
  br label %101
101:
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %11)
  br label %188
102:
  %103 = load <8 x i64>, ptr %28, align 8
  br i1 %17, label %104, label %130
104:
  %105 = shufflevector <8 x i64> %103, <8 x i64> poison, <32 x i32> <i32 0, i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 1, i32 2, i32 2, i32 2, i32 2, i32 3, i32 3, i32 3, i32 3, i32 4, i32 4, i32 4, i32 4, i32 5, i32 5, i32 5, i32 5, i32 6, i32 6, i32 6, i32 6, i32 7, i32 7, i32 7, i32 7>
  %106 = add <32 x i64> %105, <i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12, i64 0, i64 4, i64 8, i64 12>
  store <32 x i64> %106, ptr %24, align 8
  %107 = load ptr, ptr %14, align 8
  %108 = getelementptr inbounds nuw i8, ptr %107, i64 512
  %109 = load ptr, ptr %18, align 8
  br i1 %19, label %119, label %110
110:
  tail call void @observe_loads(ptr nonnull %0, ptr %1, i32 %2, ptr nonnull %4, ptr %3, i32 -1, i64 0, i32 1, i32 1, i32 4)
  tail call void @load_lanes(ptr nonnull %0, ptr %3, i32 -1, i64 0, i32 4)
  br label %111
111:
  %112 = phi i64 [ 0, %110 ], [ %117, %111 ]
  %113 = shl nuw nsw i64 %112, 2
  %114 = getelementptr inbounds nuw i8, ptr %32, i64 %113
  %115 = getelementptr inbounds nuw i8, ptr %108, i64 %113
  %116 = load i32, ptr %115, align 1
  store i32 %116, ptr %114, align 1
  %117 = add nuw nsw i64 %112, 1
  %118 = icmp eq i64 %117, 32
  br i1 %118, label %188, label %111
119:
  %120 = phi i64 [ %125, %119 ], [ 0, %104 ]
  %121 = shl nuw nsw i64 %120, 2
  %122 = getelementptr inbounds nuw i8, ptr %108, i64 %121
  %123 = getelementptr inbounds nuw i8, ptr %32, i64 %121
  %124 = load i32, ptr %123, align 1
  store i32 %124, ptr %122, align 1
  %125 = add nuw nsw i64 %120, 1
  %126 = icmp eq i64 %125, 32
  br i1 %126, label %127, label %119
127:
  tail call void @observe_stores(ptr %0, ptr %1, i32 %2, ptr %4, ptr %3, i32 -1, i64 0, i32 1, i32 4)
  %128 = icmp eq ptr %109, null
  br i1 %128, label %188, label %129
129:
  tail call void @mark_lanes(ptr %0, ptr nonnull %109, i32 -1, i64 0, i32 4)
  br label %188
130:
  %131 = shufflevector <8 x i64> %103, <8 x i64> poison, <32 x i32> <i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6, i32 0, i32 2, i32 4, i32 6>
  %132 = shufflevector <8 x i64> %103, <8 x i64> poison, <32 x i32> <i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7, i32 1, i32 3, i32 5, i32 7>
  %133 = add <32 x i64> %131, <i64 0, i64 0, i64 0, i64 0, i64 2, i64 2, i64 2, i64 2, i64 4, i64 4, i64 4, i64 4, i64 6, i64 6, i64 6, i64 6, i64 8, i64 8, i64 8, i64 8, i64 10, i64 10, i64 10, i64 10, i64 12, i64 12, i64 12, i64 12, i64 14, i64 14, i64 14, i64 14>
  store <32 x i64> %133, ptr %24, align 8
  %134 = load ptr, ptr %14, align 8
  %135 = getelementptr inbounds nuw i8, ptr %134, i64 512
  %136 = load ptr, ptr %18, align 8
  br i1 %19, label %147, label %137
137:
  tail call void @observe_loads(ptr nonnull %0, ptr %1, i32 %2, ptr nonnull %4, ptr %3, i32 -1, i64 0, i32 1, i32 1, i32 2)
  tail call void @load_lanes(ptr nonnull %0, ptr %3, i32 -1, i64 0, i32 2)
  br label %138
138:
  %139 = phi i64 [ 0, %137 ], [ %145, %138 ]
  %140 = shl nuw nsw i64 %139, 2
  %141 = getelementptr inbounds nuw i8, ptr %32, i64 %140
  %142 = shl nuw nsw i64 %139, 1
  %143 = getelementptr inbounds nuw i8, ptr %135, i64 %142
  %144 = load i16, ptr %143, align 1
  store i16 %144, ptr %141, align 1
  %145 = add nuw nsw i64 %139, 1
  %146 = icmp eq i64 %145, 32
  br i1 %146, label %159, label %138
147:
  %148 = phi i64 [ %154, %147 ], [ 0, %130 ]
  %149 = shl nuw nsw i64 %148, 1
  %150 = getelementptr inbounds nuw i8, ptr %135, i64 %149
  %151 = shl nuw nsw i64 %148, 2
  %152 = getelementptr inbounds nuw i8, ptr %32, i64 %151
  %153 = load i16, ptr %152, align 1
  store i16 %153, ptr %150, align 1
  %154 = add nuw nsw i64 %148, 1
  %155 = icmp eq i64 %154, 32
  br i1 %155, label %156, label %147
156:
  tail call void @observe_stores(ptr %0, ptr %1, i32 %2, ptr %4, ptr %3, i32 -1, i64 0, i32 1, i32 2)
  %157 = icmp eq ptr %136, null
  br i1 %157, label %159, label %158
158:
  tail call void @mark_lanes(ptr %0, ptr nonnull %136, i32 -1, i64 0, i32 2)
  br label %159
159:
  %160 = add <32 x i64> %132, <i64 0, i64 0, i64 0, i64 0, i64 2, i64 2, i64 2, i64 2, i64 4, i64 4, i64 4, i64 4, i64 6, i64 6, i64 6, i64 6, i64 8, i64 8, i64 8, i64 8, i64 10, i64 10, i64 10, i64 10, i64 12, i64 12, i64 12, i64 12, i64 14, i64 14, i64 14, i64 14>
  %161 = load ptr, ptr %14, align 8
  store <32 x i64> %160, ptr %161, align 8
  %162 = getelementptr inbounds nuw i8, ptr %32, i64 2
  %163 = load ptr, ptr %14, align 8
  %164 = getelementptr inbounds nuw i8, ptr %163, i64 512
  %165 = load ptr, ptr %18, align 8
  br i1 %19, label %176, label %166
166:
  tail call void @observe_loads(ptr nonnull %0, ptr %1, i32 %2, ptr nonnull %4, ptr %3, i32 -1, i64 0, i32 1, i32 1, i32 2)
  tail call void @load_lanes(ptr nonnull %0, ptr %3, i32 -1, i64 0, i32 2)
  br label %167
167:
  %168 = phi i64 [ 0, %166 ], [ %174, %167 ]
  %169 = shl nuw nsw i64 %168, 2
  %170 = getelementptr inbounds nuw i8, ptr %162, i64 %169
  %171 = shl nuw nsw i64 %168, 1
  %172 = getelementptr inbounds nuw i8, ptr %164, i64 %171
  %173 = load i16, ptr %172, align 1
  store i16 %173, ptr %170, align 1
  %174 = add nuw nsw i64 %168, 1
  %175 = icmp eq i64 %174, 32
  br i1 %175, label %188, label %167
176:
  %177 = phi i64 [ %183, %176 ], [ 0, %159 ]
  %178 = shl nuw nsw i64 %177, 1
  %179 = getelementptr inbounds nuw i8, ptr %164, i64 %178
  %180 = shl nuw nsw i64 %177, 2
  %181 = getelementptr inbounds nuw i8, ptr %162, i64 %180
  %182 = load i16, ptr %181, align 1
  store i16 %182, ptr %179, align 1
  %183 = add nuw nsw i64 %177, 1
  %184 = icmp eq i64 %183, 32
  br i1 %184, label %185, label %176
185:
  tail call void @observe_stores(ptr %0, ptr %1, i32 %2, ptr %4, ptr %3, i32 -1, i64 0, i32 1, i32 2)
  %186 = icmp eq ptr %165, null
  br i1 %186, label %188, label %187
187:
  tail call void @mark_lanes(ptr %0, ptr nonnull %165, i32 -1, i64 0, i32 2)
  br label %188
188:
  %189 = add nuw nsw i64 %23, 1
  %190 = icmp eq i64 %189, %20
  br i1 %190, label %21, label %22
}

define internal range(i32 0, 5) i32 @run_block(ptr %0) #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %3 = load i64, ptr %2, align 8
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %6 = load i32, ptr @kernel, align 4
  %7 = zext i32 %6 to i64
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 108), align 4
  %9 = icmp ne i32 %8, 0
  %10 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 164
  %13 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %14 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %15 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 12), align 4
  %16 = icmp eq i32 %15, 0
  %17 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 88), align 4
  %18 = icmp eq i32 %17, 0
  %19 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 28), align 4
  %20 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %21 = icmp eq i32 %20, 0
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %23 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 116), align 4
  %24 = icmp eq i32 %23, 0
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %26 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %27 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %28 = tail call i64 @llvm.umax.i64(i64 %3, i64 1)
  %29 = zext i32 %8 to i64
  %30 = zext i32 %17 to i64
  br label %31
31:
  %32 = load i64, ptr %4, align 8
  %33 = urem i64 %32, %3
  br label %34
34:
  %35 = phi i32 [ 0, %31 ], [ %104, %102 ]
  %36 = phi i32 [ 0, %31 ], [ %103, %102 ]
  %37 = phi i64 [ 0, %31 ], [ %105, %102 ]
  %38 = phi i64 [ %33, %31 ], [ %108, %102 ]
  %39 = load ptr, ptr %5, align 8
  %40 = mul i64 %38, %7
  %41 = getelementptr inbounds nuw i8, ptr %39, i64 %40
  %42 = load i32, ptr %41, align 4
  %43 = icmp eq i32 %42, 0
  br i1 %43, label %102, label %44
44:
  %45 = trunc i64 %38 to i32
  %46 = and i64 %38, 4294967295
  %47 = mul nuw i64 %46, %7
  br label %48
48:
  %49 = tail call i32 @step(ptr nonnull %0, i32 %45)
  %50 = icmp ne i32 %49, 1
  %51 = select i1 %50, i1 %9, i1 false
  br i1 %51, label %52, label %96
52:
  %53 = load ptr, ptr %5, align 8
  %54 = getelementptr inbounds nuw i8, ptr %53, i64 %47
  %55 = getelementptr inbounds nuw i8, ptr %54, i64 28
  %56 = load i32, ptr %55, align 4
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %98, label %58
58:
  store i32 0, ptr %55, align 4
  br label %59
59:
  %60 = phi i64 [ 0, %58 ], [ %91, %90 ]
  %61 = icmp eq i64 %60, 0
  br i1 %61, label %90, label %62
62:
  %63 = getelementptr inbounds nuw [0 x i32], ptr @at_meetings, i64 0, i64 %60
  %64 = load i32, ptr %63, align 4
  %65 = icmp eq i32 %64, 0
  %66 = trunc nuw i64 %60 to i32
  %67 = shl i32 %66, 2
  %68 = add i32 %10, %67
  %69 = zext i32 %68 to i64
  %70 = getelementptr inbounds nuw i8, ptr %54, i64 %69
  br i1 %65, label %90, label %71
71:
  %72 = phi i64 [ %88, %87 ], [ 0, %62 ]
  %73 = getelementptr inbounds nuw [0 x i32], ptr @at_meetings, i64 0, i64 %72
  %74 = load i32, ptr %73, align 4
  %75 = icmp eq i32 %74, %64
  br i1 %75, label %76, label %87
76:
  %77 = load i32, ptr %70, align 4
  %78 = icmp eq i32 %77, 0
  br i1 %78, label %87, label %79
79:
  %80 = trunc nuw i64 %72 to i32
  %81 = shl i32 %80, 2
  %82 = add i32 %10, %81
  %83 = zext i32 %82 to i64
  %84 = getelementptr inbounds nuw i8, ptr %54, i64 %83
  %85 = load i32, ptr %84, align 4
  %86 = icmp eq i32 %85, 0
  br i1 %86, label %87, label %93
87:
  %88 = add nuw nsw i64 %72, 1
  %89 = icmp eq i64 %88, %60
  br i1 %89, label %90, label %71
90:
  %91 = add nuw nsw i64 %60, 1
  %92 = icmp eq i64 %91, %29
  br i1 %92, label %96, label %59
93:
  store i32 -2, ptr %11, align 4
  store i32 %45, ptr %12, align 4
  store i32 0, ptr %13, align 4
  %94 = load ptr, ptr %14, align 8
  %95 = tail call i32 %94(ptr %0)
  switch i32 %95, label %96 [
    i32 1, label %48
    i32 2, label %198
  ]
96:
  %97 = icmp eq i32 %49, 1
  br i1 %97, label %198, label %98
98:
  %99 = load i32, ptr %41, align 4
  %100 = or i32 %99, %35
  %101 = or i32 %49, %36
  br label %102
102:
  %103 = phi i32 [ %101, %98 ], [ %36, %34 ]
  %104 = phi i32 [ %100, %98 ], [ %35, %34 ]
  %105 = add nuw i64 %37, 1
  %106 = add i64 %38, 1
  %107 = icmp ult i64 %106, %3
  %108 = select i1 %107, i64 %106, i64 0
  %109 = icmp eq i64 %105, %28
  br i1 %109, label %110, label %34
110:
  %111 = icmp eq i32 %104, 0
  br i1 %111, label %198, label %112
112:
  br i1 %16, label %113, label %116
113:
  %114 = icmp ne i32 %103, 0
  %115 = select i1 %114, i1 true, i1 %18
  br i1 %115, label %196, label %121
116:
  %117 = tail call i32 @recheck_barriers(ptr %0)
  %118 = icmp eq i32 %117, 0
  %119 = icmp ne i32 %103, 0
  %120 = select i1 %119, i1 true, i1 %118
  br i1 %120, label %194, label %193
121:
  %122 = load ptr, ptr %5, align 8
  br label %126
123:
  %124 = add nuw i64 %127, 1
  %125 = icmp eq i64 %124, %28
  br i1 %125, label %145, label %126
126:
  %127 = phi i64 [ 0, %121 ], [ %124, %123 ]
  %128 = mul i64 %127, %7
  %129 = getelementptr inbounds nuw i8, ptr %122, i64 %128
  br label %133
130:
  %131 = load i32, ptr %129, align 4
  %132 = icmp eq i32 %142, %131
  br i1 %132, label %123, label %198
133:
  %134 = phi i64 [ 0, %126 ], [ %143, %133 ]
  %135 = phi i32 [ 0, %126 ], [ %142, %133 ]
  %136 = trunc nuw i64 %134 to i32
  %137 = shl i32 %136, 2
  %138 = add i32 %19, %137
  %139 = zext i32 %138 to i64
  %140 = getelementptr inbounds nuw i8, ptr %129, i64 %139
  %141 = load i32, ptr %140, align 4
  %142 = or i32 %141, %135
  %143 = add nuw nsw i64 %134, 1
  %144 = icmp eq i64 %143, %30
  br i1 %144, label %130, label %133
145:
  br i1 %21, label %153, label %146
146:
  %147 = load i64, ptr %22, align 8
  %148 = and i64 %147, 140735340871680
  %149 = icmp eq i64 %148, 140735340871680
  br i1 %149, label %152, label %150
150:
  %151 = add i64 %147, 2147483648
  store i64 %151, ptr %22, align 8
  br label %152
152:
  tail call void @order_proxies(ptr nonnull %0)
  br label %153
153:
  br label %154
154:
  %155 = phi i64 [ %173, %172 ], [ 0, %153 ]
  %156 = load ptr, ptr %5, align 8
  %157 = mul i64 %155, %7
  %158 = getelementptr inbounds nuw i8, ptr %156, i64 %157
  br i1 %24, label %168, label %159
159:
  %160 = getelementptr inbounds nuw i8, ptr %158, i64 24
  %161 = load i32, ptr %160, align 4
  %162 = load i32, ptr %158, align 4
  %163 = xor i32 %162, -1
  %164 = and i32 %161, %163
  %165 = zext i32 %164 to i64
  %166 = load i64, ptr %25, align 8
  %167 = or i64 %166, %165
  store i64 %167, ptr %25, align 8
  store i64 0, ptr %26, align 8
  br label %168
168:
  br i1 %21, label %171, label %169
169:
  %170 = getelementptr inbounds nuw i8, ptr %158, i64 20
  store i32 0, ptr %170, align 4
  br label %171
171:
  br label %175
172:
  %173 = add nuw i64 %155, 1
  %174 = icmp eq i64 %173, %28
  br i1 %174, label %193, label %154
175:
  %176 = phi i64 [ %191, %175 ], [ 0, %171 ]
  %177 = trunc nuw i64 %176 to i32
  %178 = shl i32 %177, 2
  %179 = add i32 %19, %178
  %180 = zext i32 %179 to i64
  %181 = getelementptr inbounds nuw i8, ptr %158, i64 %180
  %182 = load i32, ptr %181, align 4
  %183 = getelementptr inbounds nuw [0 x i32], ptr @at_barriers, i64 0, i64 %176
  %184 = load i32, ptr %183, align 4
  %185 = shl i32 %184, 2
  %186 = add i32 %185, %27
  %187 = zext i32 %186 to i64
  %188 = getelementptr inbounds nuw i8, ptr %158, i64 %187
  %189 = load i32, ptr %188, align 4
  %190 = or i32 %189, %182
  store i32 %190, ptr %188, align 4
  store i32 0, ptr %181, align 4
  %191 = add nuw nsw i64 %176, 1
  %192 = icmp eq i64 %191, %30
  br i1 %192, label %172, label %175
193:
  br label %31
194:
  %195 = select i1 %119, i32 2, i32 4
  br label %198
196:
  %197 = select i1 %114, i32 2, i32 4
  br label %198
198:
  %199 = phi i32 [ %195, %194 ], [ %197, %196 ], [ 1, %93 ], [ 4, %130 ], [ 1, %96 ], [ 0, %110 ]
  ret i32 %199
}

define internal range(i32 0, 8) i32 @run_cluster(ptr %0) #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %3 = load i64, ptr %2, align 8
  %4 = icmp eq i64 %3, 0
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 100), align 4
  %6 = icmp eq i32 %5, 0
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 48
  %9 = load i32, ptr @kernel, align 4
  %10 = zext i32 %9 to i64
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 44), align 4
  %12 = zext i32 %11 to i64
  %13 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 48), align 4
  %14 = zext i32 %13 to i64
  %15 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 36), align 4
  %16 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %17 = tail call i32 @llvm.umax.i32(i32 %5, i32 1)
  %18 = zext i32 %17 to i64
  br label %19
19:
  br i1 %4, label %31, label %20
20:
  %21 = phi i32 [ %28, %27 ], [ 0, %19 ]
  %22 = phi i64 [ %29, %27 ], [ 0, %19 ]
  %23 = mul i64 %22, 384
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
  %12 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 128), align 4
  %13 = icmp eq i32 %12, 0
  %14 = select i1 %13, i64 1, i64 64
  %15 = shl nuw nsw i64 %14, 6
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 320
  %17 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 124), align 4
  %18 = icmp eq i32 %17, 0
  %19 = shl nuw nsw i64 %14, 10
  %20 = icmp ne i32 %17, 0
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 160
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 164
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 168
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 56
  %25 = icmp eq i64 %9, 0
  %26 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %27 = icmp eq i32 %26, 0
  %28 = load i32, ptr @kernel, align 4
  %29 = zext i32 %28 to i64
  %30 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 4), align 4
  %31 = zext i32 %30 to i64
  %32 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
  %33 = zext i32 %32 to i64
  br label %34
34:
  %35 = phi i64 [ %60, %58 ], [ 0, %5 ]
  %36 = phi i64 [ %61, %58 ], [ 0, %5 ]
  %37 = phi i64 [ %59, %58 ], [ 0, %5 ]
  %38 = icmp ult i64 %37, %2
  %39 = select i1 %38, i1 true, i1 %20
  br label %40
40:
  %41 = phi i64 [ 0, %34 ], [ %179, %189 ]
  %42 = phi i64 [ %36, %34 ], [ %170, %189 ]
  br i1 %38, label %43, label %135
43:
  %44 = icmp ult i64 %41, %15
  %45 = select i1 %44, i64 %11, i64 %7
  %46 = icmp eq i64 %42, 0
  %47 = mul i64 %42, %9
  %48 = icmp ult i64 %47, %45
  %49 = select i1 %46, i1 true, i1 %48
  br i1 %49, label %50, label %137
50:
  %51 = phi i64 [ %56, %50 ], [ 0, %43 ]
  %52 = mul i64 %51, 384
  %53 = getelementptr inbounds nuw i8, ptr %0, i64 %52
  %54 = load i64, ptr %53, align 8
  %55 = icmp eq i64 %54, 0
  %56 = add i64 %51, %9
  br i1 %55, label %57, label %50
57:
  br i1 %25, label %58, label %62
58:
  %59 = phi i64 [ %37, %57 ], [ %133, %131 ]
  %60 = tail call i64 @llvm.umax.i64(i64 %56, i64 %35)
  %61 = add i64 %42, 1
  br label %34
62:
  %63 = phi i64 [ %133, %131 ], [ %37, %57 ]
  %64 = phi i64 [ %132, %131 ], [ 0, %57 ]
  %65 = add i64 %64, %51
  %66 = mul i64 %65, 384
  %67 = getelementptr inbounds nuw i8, ptr %0, i64 %66
  %68 = add i64 %63, %1
  %69 = mul i64 %63, %4
  %70 = getelementptr inbounds nuw i8, ptr %3, i64 %69
  %71 = getelementptr inbounds nuw i8, ptr %67, i64 64
  store i64 %68, ptr %71, align 8
  %72 = getelementptr inbounds nuw i8, ptr %67, i64 24
  store ptr %70, ptr %72, align 8
  store i64 1, ptr %67, align 8
  %73 = getelementptr inbounds nuw i8, ptr %67, i64 168
  store i32 0, ptr %73, align 4
  %74 = getelementptr inbounds nuw i8, ptr %67, i64 80
  %75 = load ptr, ptr %74, align 8
  %76 = getelementptr inbounds nuw i8, ptr %67, i64 88
  %77 = load i64, ptr %76, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %75, i8 -1, i64 %77, i1 false)
  %78 = load ptr, ptr %74, align 8
  %79 = getelementptr inbounds nuw i8, ptr %67, i64 312
  %80 = load i64, ptr %79, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %78, i8 0, i64 %80, i1 false)
  %81 = getelementptr inbounds nuw i8, ptr %67, i64 264
  %82 = load ptr, ptr %81, align 8
  %83 = getelementptr inbounds nuw i8, ptr %67, i64 272
  %84 = load i64, ptr %83, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %82, i8 -1, i64 %84, i1 false)
  %85 = getelementptr inbounds nuw i8, ptr %67, i64 296
  %86 = load ptr, ptr %85, align 8
  %87 = getelementptr inbounds nuw i8, ptr %67, i64 304
  %88 = load i64, ptr %87, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %86, i8 0, i64 %88, i1 false)
  br i1 %27, label %108, label %89
89:
  %90 = shl i64 %68, 47
  %91 = add i64 %90, 140737488355328
  %92 = getelementptr inbounds nuw i8, ptr %67, i64 200
  store i64 %91, ptr %92, align 8
  %93 = getelementptr inbounds nuw i8, ptr %67, i64 360
  store i64 0, ptr %93, align 8
  %94 = getelementptr inbounds nuw i8, ptr %67, i64 352
  store i64 0, ptr %94, align 8
  %95 = getelementptr inbounds nuw i8, ptr %67, i64 344
  store i64 0, ptr %95, align 8
  %96 = getelementptr inbounds nuw i8, ptr %67, i64 216
  %97 = load ptr, ptr %96, align 8
  %98 = getelementptr inbounds nuw i8, ptr %67, i64 224
  %99 = load i64, ptr %98, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %97, i8 0, i64 %99, i1 false)
  %100 = getelementptr inbounds nuw i8, ptr %67, i64 232
  %101 = load ptr, ptr %100, align 8
  %102 = getelementptr inbounds nuw i8, ptr %67, i64 240
  %103 = load i64, ptr %102, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %101, i8 1, i64 %103, i1 false)
  %104 = getelementptr inbounds nuw i8, ptr %67, i64 248
  %105 = load ptr, ptr %104, align 8
  %106 = getelementptr inbounds nuw i8, ptr %67, i64 256
  %107 = load i64, ptr %106, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %105, i8 1, i64 %107, i1 false)
  br label %108
108:
  %109 = getelementptr inbounds nuw i8, ptr %67, i64 112
  %110 = load i64, ptr %109, align 8
  %111 = getelementptr inbounds nuw i8, ptr %67, i64 104
  %112 = load i64, ptr %111, align 8
  %113 = icmp eq i64 %112, 0
  br i1 %113, label %131, label %114
114:
  %115 = getelementptr inbounds nuw i8, ptr %67, i64 48
  br label %116
116:
  %117 = phi i64 [ 0, %114 ], [ %129, %116 ]
  %118 = load ptr, ptr %115, align 8
  %119 = mul i64 %117, %29
  %120 = getelementptr inbounds nuw i8, ptr %118, i64 %119
  %121 = shl i64 %117, 5
  %122 = sub i64 %110, %121
  tail call void @llvm.memset.p0.i64(ptr align 1 %120, i8 0, i64 %31, i1 false)
  %123 = icmp ugt i64 %122, 31
  %124 = trunc i64 %122 to i32
  %125 = shl nsw i32 -1, %124
  %126 = xor i32 %125, -1
  %127 = select i1 %123, i32 -1, i32 %126
  %128 = getelementptr inbounds nuw i8, ptr %120, i64 %33
  store i32 %127, ptr %128, align 4
  store i32 %127, ptr %120, align 4
  %129 = add nuw i64 %117, 1
  %130 = icmp eq i64 %129, %112
  br i1 %130, label %131, label %116
131:
  %132 = add nuw i64 %64, 1
  %133 = add i64 %63, 1
  %134 = icmp eq i64 %132, %9
  br i1 %134, label %58, label %62
135:
  %136 = icmp eq i64 %42, 0
  br i1 %136, label %190, label %137
137:
  %138 = load i64, ptr %16, align 8
  %139 = mul i64 %138, %9
  %140 = urem i64 %139, %35
  br label %141
141:
  %142 = phi i64 [ %42, %137 ], [ %170, %169 ]
  %143 = phi i64 [ 0, %137 ], [ %171, %169 ]
  %144 = phi i64 [ %140, %137 ], [ %174, %169 ]
  %145 = mul i64 %144, 384
  %146 = getelementptr inbounds nuw i8, ptr %0, i64 %145
  %147 = load i64, ptr %146, align 8
  %148 = icmp eq i64 %147, 0
  br i1 %148, label %169, label %149
149:
  %150 = tail call i32 @run_cluster(ptr nonnull %146)
  switch i32 %150, label %162 [
    i32 1, label %190
    i32 0, label %151
    i32 2, label %169
  ]
151:
  br i1 %18, label %160, label %152
152:
  %153 = getelementptr inbounds nuw i8, ptr %146, i64 160
  store i32 -4, ptr %153, align 4
  %154 = getelementptr inbounds nuw i8, ptr %146, i64 164
  store i32 0, ptr %154, align 4
  %155 = getelementptr inbounds nuw i8, ptr %146, i64 168
  store i32 0, ptr %155, align 4
  %156 = getelementptr inbounds nuw i8, ptr %146, i64 56
  %157 = load ptr, ptr %156, align 8
  %158 = tail call i32 %157(ptr nonnull %146)
  %159 = icmp eq i32 %158, 2
  br i1 %159, label %190, label %160
160:
  store i64 0, ptr %146, align 8
  %161 = add i64 %142, -1
  br label %169
162:
  %163 = getelementptr inbounds nuw i8, ptr %146, i64 160
  store i32 -1, ptr %163, align 4
  %164 = getelementptr inbounds nuw i8, ptr %146, i64 164
  store i32 0, ptr %164, align 4
  %165 = getelementptr inbounds nuw i8, ptr %146, i64 168
  store i32 0, ptr %165, align 4
  %166 = getelementptr inbounds nuw i8, ptr %146, i64 56
  %167 = load ptr, ptr %166, align 8
  %168 = tail call i32 %167(ptr nonnull %146)
  br label %190
169:
  %170 = phi i64 [ %142, %141 ], [ %161, %160 ], [ %142, %149 ]
  %171 = add i64 %143, %9
  %172 = add i64 %144, %9
  %173 = icmp ult i64 %172, %35
  %174 = select i1 %173, i64 %172, i64 0
  %175 = icmp ult i64 %171, %35
  br i1 %175, label %141, label %176
176:
  %177 = icmp eq i64 %170, %42
  %178 = add i64 %41, 1
  %179 = select i1 %177, i64 %178, i64 0
  %180 = icmp uge i64 %179, %19
  %181 = tail call range(i64 0, 65) i64 @llvm.ctpop.i64(i64 %179)
  %182 = icmp samesign ult i64 %181, 2
  %183 = select i1 %180, i1 %182, i1 false
  %184 = select i1 %183, i1 %39, i1 false
  br i1 %184, label %185, label %189
185:
  store i32 -3, ptr %21, align 4
  store i32 0, ptr %22, align 4
  store i32 0, ptr %23, align 4
  %186 = load ptr, ptr %24, align 8
  %187 = tail call i32 %186(ptr nonnull %0)
  %188 = icmp eq i32 %187, 2
  br i1 %188, label %190, label %189
189:
  br label %40
190:
  %191 = phi i32 [ 1, %162 ], [ %150, %149 ], [ 1, %152 ], [ 0, %135 ], [ 1, %185 ]
  ret i32 %191
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
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
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
  %5 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 24), align 4
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 20), align 4
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

define internal void @sum_exactly(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5) noinline #0 {
  %7 = alloca [32 x i32], align 16
  %8 = alloca [32 x double], align 16
  %9 = load i32, ptr %0, align 4
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 12
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %12 = load i32, ptr %11, align 4
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %31, label %14
14:
  %15 = load i32, ptr %10, align 4
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 116
  %17 = getelementptr inbounds nuw i8, ptr %0, i64 76
  %18 = load i32, ptr %17, align 4
  %19 = icmp eq i32 %9, 0
  %20 = getelementptr inbounds nuw i8, ptr %0, i64 64
  %21 = icmp eq i32 %18, 0
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 100
  %23 = getelementptr inbounds nuw i8, ptr %0, i64 108
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 68
  %25 = getelementptr inbounds nuw i8, ptr %0, i64 92
  %26 = zext i32 %9 to i64
  %27 = zext i32 %9 to i64
  %28 = zext i32 %9 to i64
  %29 = zext i32 %9 to i64
  %30 = zext i32 %9 to i64
  br label %32
31:
  ret void
32:
  %33 = phi i32 [ %12, %14 ], [ %205, %204 ]
  %34 = phi i32 [ %15, %14 ], [ %206, %204 ]
  %35 = phi i32 [ 0, %14 ], [ %208, %204 ]
  %36 = phi ptr [ %16, %14 ], [ %25, %204 ]
  %37 = phi ptr [ %3, %14 ], [ %4, %204 ]
  %38 = phi i32 [ 0, %14 ], [ %207, %204 ]
  %39 = load i32, ptr %36, align 4
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %7)
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %8)
  br i1 %19, label %40, label %42
40:
  %41 = icmp eq i32 %34, 0
  br i1 %41, label %61, label %65
42:
  %43 = phi i64 [ %59, %42 ], [ 0, %32 ]
  %44 = getelementptr inbounds nuw float, ptr %37, i64 %43
  %45 = load float, ptr %44, align 4
  %46 = fpext float %45 to double
  %47 = bitcast double %46 to i64
  %48 = lshr i64 %47, 52
  %49 = trunc nuw nsw i64 %48 to i32
  %50 = and i32 %49, 2047
  %51 = icmp eq i32 %50, 2047
  %52 = add nsw i32 %50, -1023
  %53 = select i1 %51, i32 -1, i32 %52
  %54 = call i32 @llvm.smax.i32(i32 %53, i32 %39)
  %55 = fcmp oeq float %45, 0.000000e+00
  %56 = call i32 @llvm.smax.i32(i32 %54, i32 -400)
  %57 = select i1 %55, i32 -400, i32 %56
  %58 = getelementptr inbounds nuw [32 x i32], ptr %7, i64 0, i64 %43
  store i32 %57, ptr %58, align 4
  %59 = add nuw nsw i64 %43, 1
  %60 = icmp eq i64 %59, %26
  br i1 %60, label %40, label %42
61:
  br i1 %19, label %122, label %62
62:
  %63 = load i32, ptr %24, align 4
  %64 = add i32 %63, 1023
  br label %123
65:
  %66 = phi i32 [ %81, %80 ], [ 0, %40 ]
  br i1 %19, label %80, label %67
67:
  %68 = load i32, ptr %20, align 4
  %69 = icmp eq i32 %68, 0
  %70 = and i32 %66, 2147483646
  %71 = add i32 %70, %38
  %72 = shl i32 %71, 1
  %73 = and i32 %66, 1
  %74 = or disjoint i32 %72, %73
  %75 = add i32 %66, %35
  %76 = load i32, ptr %22, align 4
  %77 = load i32, ptr %23, align 4
  %78 = select i1 %69, i32 %75, i32 %74
  %79 = mul i32 %78, %9
  br label %83
80:
  %81 = add nuw i32 %66, 1
  %82 = icmp eq i32 %81, %34
  br i1 %82, label %61, label %65
83:
  %84 = phi i64 [ 0, %67 ], [ %120, %83 ]
  %85 = trunc nuw i64 %84 to i32
  %86 = add i32 %79, %85
  %87 = select i1 %21, i32 %78, i32 %86
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds nuw float, ptr %2, i64 %88
  %90 = load float, ptr %89, align 4
  %91 = zext i32 %86 to i64
  %92 = getelementptr inbounds nuw float, ptr %1, i64 %91
  %93 = load float, ptr %92, align 4
  %94 = fpext float %93 to double
  %95 = bitcast double %94 to i64
  %96 = lshr i64 %95, 52
  %97 = trunc nuw nsw i64 %96 to i32
  %98 = and i32 %97, 2047
  %99 = icmp eq i32 %98, 2047
  %100 = add nsw i32 %98, -1023
  %101 = select i1 %99, i32 -1, i32 %100
  %102 = call i32 @llvm.smax.i32(i32 %101, i32 %76)
  %103 = fcmp oeq float %93, 0.000000e+00
  %104 = select i1 %103, i32 -2000, i32 %102
  %105 = getelementptr inbounds nuw [32 x i32], ptr %7, i64 0, i64 %84
  %106 = load i32, ptr %105, align 4
  %107 = fpext float %90 to double
  %108 = bitcast double %107 to i64
  %109 = lshr i64 %108, 52
  %110 = trunc nuw nsw i64 %109 to i32
  %111 = and i32 %110, 2047
  %112 = icmp eq i32 %111, 2047
  %113 = add nsw i32 %111, -1023
  %114 = select i1 %112, i32 -1, i32 %113
  %115 = call i32 @llvm.smax.i32(i32 %114, i32 %77)
  %116 = fcmp oeq float %90, 0.000000e+00
  %117 = select i1 %116, i32 -2000, i32 %115
  %118 = add nsw i32 %104, %117
  %119 = call i32 @llvm.smax.i32(i32 %106, i32 %118)
  store i32 %119, ptr %105, align 4
  %120 = add nuw nsw i64 %84, 1
  %121 = icmp eq i64 %120, %27
  br i1 %121, label %80, label %83
122:
  br i1 %41, label %139, label %142
123:
  %124 = phi i64 [ 0, %62 ], [ %137, %123 ]
  %125 = getelementptr inbounds nuw float, ptr %37, i64 %124
  %126 = load float, ptr %125, align 4
  %127 = fpext float %126 to double
  %128 = getelementptr inbounds nuw [32 x i32], ptr %7, i64 0, i64 %124
  %129 = load i32, ptr %128, align 4
  %130 = sub i32 %64, %129
  %131 = zext i32 %130 to i64
  %132 = shl i64 %131, 52
  %133 = bitcast i64 %132 to double
  %134 = fmul double %127, %133
  %135 = call double @llvm.trunc.f64(double %134)
  %136 = getelementptr inbounds nuw [32 x double], ptr %8, i64 0, i64 %124
  store double %135, ptr %136, align 8
  %137 = add nuw nsw i64 %124, 1
  %138 = icmp eq i64 %137, %28
  br i1 %138, label %122, label %123
139:
  br i1 %19, label %204, label %140
140:
  %141 = load i32, ptr %24, align 4
  br label %187
142:
  %143 = phi i32 [ %159, %158 ], [ 0, %122 ]
  br i1 %19, label %158, label %144
144:
  %145 = load i32, ptr %20, align 4
  %146 = icmp eq i32 %145, 0
  %147 = and i32 %143, 2147483646
  %148 = add i32 %147, %38
  %149 = shl i32 %148, 1
  %150 = and i32 %143, 1
  %151 = or disjoint i32 %149, %150
  %152 = add i32 %143, %35
  %153 = load i32, ptr %24, align 4
  %154 = add i32 %153, 1023
  %155 = select i1 %146, i32 %152, i32 %151
  %156 = mul i32 %155, %9
  %157 = zext i32 %155 to i64
  br label %161
158:
  %159 = add nuw i32 %143, 1
  %160 = icmp eq i32 %159, %34
  br i1 %160, label %139, label %142
161:
  %162 = phi i64 [ 0, %144 ], [ %185, %161 ]
  %163 = trunc nuw i64 %162 to i32
  %164 = add i32 %156, %163
  %165 = zext i32 %164 to i64
  %166 = getelementptr inbounds nuw float, ptr %1, i64 %165
  %167 = load float, ptr %166, align 4
  %168 = fpext float %167 to double
  %169 = select i1 %21, i64 %157, i64 %165
  %170 = getelementptr inbounds nuw float, ptr %2, i64 %169
  %171 = load float, ptr %170, align 4
  %172 = fpext float %171 to double
  %173 = fmul double %168, %172
  %174 = getelementptr inbounds nuw [32 x i32], ptr %7, i64 0, i64 %162
  %175 = load i32, ptr %174, align 4
  %176 = sub i32 %154, %175
  %177 = zext i32 %176 to i64
  %178 = shl i64 %177, 52
  %179 = bitcast i64 %178 to double
  %180 = fmul double %173, %179
  %181 = call double @llvm.trunc.f64(double %180)
  %182 = getelementptr inbounds nuw [32 x double], ptr %8, i64 0, i64 %162
  %183 = load double, ptr %182, align 8
  %184 = fadd double %183, %181
  store double %184, ptr %182, align 8
  %185 = add nuw nsw i64 %162, 1
  %186 = icmp eq i64 %185, %29
  br i1 %186, label %158, label %161
187:
  %188 = phi i64 [ 0, %140 ], [ %199, %187 ]
  %189 = getelementptr inbounds nuw [32 x i32], ptr %7, i64 0, i64 %188
  %190 = load i32, ptr %189, align 4
  %191 = sub i32 %190, %141
  %192 = add i32 %191, 1023
  %193 = zext i32 %192 to i64
  %194 = shl i64 %193, 52
  %195 = bitcast i64 %194 to double
  %196 = getelementptr inbounds nuw [32 x double], ptr %8, i64 0, i64 %188
  %197 = load double, ptr %196, align 8
  %198 = fmul double %197, %195
  store double %198, ptr %196, align 8
  %199 = add nuw nsw i64 %188, 1
  %200 = icmp eq i64 %199, %30
  br i1 %200, label %210, label %187
201:
  %202 = load i32, ptr %10, align 4
  %203 = load i32, ptr %11, align 4
  br label %204
204:
  %205 = phi i32 [ %203, %201 ], [ %33, %139 ]
  %206 = phi i32 [ %202, %201 ], [ %34, %139 ]
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %8)
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %7)
  %207 = add i32 %38, 1
  %208 = mul i32 %206, %207
  %209 = icmp ult i32 %208, %205
  br i1 %209, label %32, label %31
210:
  %211 = phi i32 [ %215, %210 ], [ 0, %187 ]
  %212 = zext i32 %211 to i64
  %213 = getelementptr inbounds nuw double, ptr %8, i64 %212
  %214 = getelementptr inbounds nuw float, ptr %4, i64 %212
  call void %5(ptr nonnull %213, ptr %214)
  %215 = add i32 %211, 16
  %216 = icmp ult i32 %215, %9
  br i1 %216, label %210, label %201
}

define internal void @multiply_warp(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12) noinline #0 {
  %14 = alloca <16 x double>, align 8
  %15 = alloca <16 x i32>, align 4
  %16 = alloca <16 x i32>, align 4
  %17 = alloca <16 x i32>, align 4
  %18 = alloca [512 x float], align 16
  %19 = alloca [512 x float], align 16
  %20 = alloca [256 x i32], align 16
  %21 = alloca [256 x i32], align 16
  %22 = alloca [512 x i32], align 16
  %23 = alloca [512 x i32], align 16
  %24 = alloca [32 x float], align 16
  %25 = alloca [512 x i32], align 16
  %26 = alloca [512 x i32], align 16
  %27 = alloca [512 x i32], align 16
  %28 = alloca [512 x i32], align 16
  %29 = alloca <8 x double>, align 8
  %30 = getelementptr inbounds nuw i8, ptr %1, i64 16
  %31 = load i32, ptr %30, align 4
  %32 = lshr i32 %31, 2
  %33 = load i32, ptr %1, align 4
  %34 = lshr i32 %33, 3
  %35 = mul i32 %34, %32
  %36 = icmp eq i32 %35, 0
  br i1 %36, label %117, label %37
37:
  %38 = getelementptr inbounds nuw i8, ptr %1, i64 28
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %40 = getelementptr inbounds nuw i8, ptr %1, i64 124
  br label %41
41:
  %42 = phi i32 [ %33, %37 ], [ %113, %111 ]
  %43 = phi i32 [ 0, %37 ], [ %112, %111 ]
  %44 = icmp ugt i32 %42, 8
  %45 = zext i1 %44 to i32
  %46 = shl nuw nsw i32 %32, %45
  %47 = udiv i32 %43, %46
  %48 = shl i32 %47, %45
  %49 = and i32 %43, 1
  %50 = select i1 %44, i32 %49, i32 0
  %51 = add i32 %48, %50
  %52 = shl i32 %51, 3
  %53 = lshr i32 %43, %45
  %54 = urem i32 %53, %32
  %55 = shl nuw i32 %54, 2
  %56 = load i32, ptr %38, align 4
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %83, label %58
58:
  %59 = zext i32 %52 to i64
  %60 = getelementptr inbounds nuw i64, ptr %2, i64 %59
  br label %61
61:
  %62 = phi i64 [ 0, %58 ], [ %81, %61 ]
  %63 = trunc nuw nsw i64 %62 to i32
  %64 = and i32 %63, 3
  %65 = or disjoint i32 %64, %55
  %66 = load i32, ptr %1, align 4
  %67 = mul i32 %66, %65
  %68 = zext i32 %67 to i64
  %69 = getelementptr inbounds nuw i64, ptr %60, i64 %68
  %70 = lshr i64 %62, 2
  %71 = and i64 %70, 1073741823
  %72 = getelementptr inbounds nuw i64, ptr %69, i64 %71
  %73 = load ptr, ptr %39, align 8
  %74 = load i32, ptr %40, align 4
  %75 = add i32 %74, %43
  %76 = shl i32 %75, 9
  %77 = zext i32 %76 to i64
  %78 = getelementptr inbounds nuw i8, ptr %73, i64 %77
  %79 = getelementptr inbounds nuw i64, ptr %78, i64 %62
  %80 = load i64, ptr %79, align 8
  store i64 %80, ptr %72, align 8
  %81 = add nuw nsw i64 %62, 1
  %82 = icmp eq i64 %81, 32
  br i1 %82, label %111, label %61
83:
  %84 = load ptr, ptr %39, align 8
  %85 = load i32, ptr %40, align 4
  %86 = add i32 %85, %43
  %87 = shl i32 %86, 9
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds nuw i8, ptr %84, i64 %88
  %90 = load <32 x i32>, ptr %89, align 4
  %91 = mul i32 %55, %42
  %92 = zext i32 %91 to i64
  %93 = getelementptr inbounds nuw i32, ptr %2, i64 %92
  %94 = zext i32 %52 to i64
  %95 = getelementptr inbounds nuw i32, ptr %93, i64 %94
  %96 = shufflevector <32 x i32> %90, <32 x i32> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  store <8 x i32> %96, ptr %95, align 4
  %97 = shufflevector <32 x i32> %90, <32 x i32> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %98 = load i32, ptr %1, align 4
  %99 = zext i32 %98 to i64
  %100 = getelementptr inbounds nuw i32, ptr %95, i64 %99
  store <8 x i32> %97, ptr %100, align 4
  %101 = shufflevector <32 x i32> %90, <32 x i32> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %102 = load i32, ptr %1, align 4
  %103 = shl i32 %102, 1
  %104 = zext i32 %103 to i64
  %105 = getelementptr inbounds nuw i32, ptr %95, i64 %104
  store <8 x i32> %101, ptr %105, align 4
  %106 = shufflevector <32 x i32> %90, <32 x i32> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %107 = load i32, ptr %1, align 4
  %108 = mul i32 %107, 3
  %109 = zext i32 %108 to i64
  %110 = getelementptr inbounds nuw i32, ptr %95, i64 %109
  store <8 x i32> %106, ptr %110, align 4
  br label %111
111:
  %112 = add nuw i32 %43, 1
  %113 = load i32, ptr %1, align 4
  %114 = lshr i32 %113, 3
  %115 = mul i32 %114, %32
  %116 = icmp ult i32 %112, %115
  br i1 %116, label %41, label %117
117:
  %118 = phi i32 [ %33, %13 ], [ %113, %111 ]
  %119 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %120 = load i32, ptr %119, align 4
  %121 = lshr i32 %120, 2
  %122 = getelementptr inbounds nuw i8, ptr %1, i64 28
  %123 = getelementptr inbounds nuw i8, ptr %1, i64 4
  %124 = load i32, ptr %123, align 4
  %125 = lshr i32 %124, 3
  %126 = mul i32 %125, %121
  %127 = icmp eq i32 %126, 0
  br i1 %127, label %137, label %128
128:
  %129 = load i32, ptr %122, align 4
  %130 = icmp eq i32 %129, 0
  %131 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %132 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %133 = select i1 %130, i32 2, i32 3
  %134 = select i1 %130, i64 16, i64 32
  br label %147
135:
  %136 = load i32, ptr %1, align 4
  br label %137
137:
  %138 = phi i32 [ %118, %117 ], [ %136, %135 ]
  %139 = phi i32 [ %125, %117 ], [ %162, %135 ]
  %140 = lshr i32 %138, 3
  %141 = mul i32 %140, %139
  %142 = icmp eq i32 %141, 0
  br i1 %142, label %308, label %143
143:
  %144 = getelementptr inbounds nuw i8, ptr %1, i64 132
  %145 = getelementptr inbounds nuw i8, ptr %1, i64 52
  %146 = getelementptr inbounds nuw i8, ptr %0, i64 40
  br label %180
147:
  %148 = phi i32 [ 0, %128 ], [ %160, %159 ]
  %149 = udiv i32 %148, %121
  %150 = shl i32 %149, 3
  %151 = urem i32 %148, %121
  %152 = shl nuw i32 %151, 2
  %153 = load ptr, ptr %131, align 8
  %154 = load i32, ptr %132, align 4
  %155 = add i32 %154, %148
  %156 = shl i32 %155, 9
  %157 = zext i32 %156 to i64
  %158 = getelementptr inbounds nuw i8, ptr %153, i64 %157
  br label %165
159:
  %160 = add nuw i32 %148, 1
  %161 = load i32, ptr %123, align 4
  %162 = lshr i32 %161, 3
  %163 = mul i32 %162, %121
  %164 = icmp ult i32 %160, %163
  br i1 %164, label %147, label %135
165:
  %166 = phi i32 [ 0, %147 ], [ %178, %165 ]
  %167 = add nuw nsw i32 %166, %150
  %168 = load i32, ptr %119, align 4
  %169 = mul i32 %168, %167
  %170 = add i32 %169, %152
  %171 = shl i32 %170, %133
  %172 = zext i32 %171 to i64
  %173 = getelementptr inbounds nuw i8, ptr %3, i64 %172
  %174 = shl nuw nsw i32 %166, 2
  %175 = shl nuw nsw i32 %174, %133
  %176 = zext nneg i32 %175 to i64
  %177 = getelementptr inbounds nuw i8, ptr %158, i64 %176
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 dereferenceable(16) %173, ptr nonnull align 1 dereferenceable(16) %177, i64 %134, i1 false)
  %178 = add nuw nsw i32 %166, 1
  %179 = icmp eq i32 %178, 8
  br i1 %179, label %159, label %165
180:
  %181 = phi i32 [ %138, %143 ], [ %198, %196 ]
  %182 = phi i32 [ 0, %143 ], [ %197, %196 ]
  %183 = icmp ugt i32 %181, 8
  %184 = zext i1 %183 to i32
  %185 = shl nuw nsw i32 %139, %184
  %186 = udiv i32 %182, %185
  %187 = shl i32 %186, %184
  %188 = and i32 %182, 1
  %189 = select i1 %183, i32 %188, i32 0
  %190 = add i32 %187, %189
  %191 = shl i32 %190, 3
  %192 = lshr i32 %182, %184
  %193 = urem i32 %192, %139
  %194 = shl nuw i32 %193, 3
  %195 = shl i32 %182, 1
  br label %202
196:
  %197 = add nuw i32 %182, 1
  %198 = load i32, ptr %1, align 4
  %199 = lshr i32 %198, 3
  %200 = mul i32 %199, %139
  %201 = icmp ult i32 %197, %200
  br i1 %201, label %180, label %308
202:
  %203 = phi i1 [ true, %180 ], [ false, %307 ]
  %204 = phi i32 [ 0, %180 ], [ 1, %307 ]
  %205 = load i32, ptr %144, align 4
  %206 = load i32, ptr %145, align 4
  %207 = icmp eq i32 %206, 0
  %208 = or disjoint i32 %204, %195
  %209 = select i1 %207, i32 %208, i32 %182
  %210 = add i32 %209, %205
  %211 = or disjoint i32 %204, %194
  %212 = load i32, ptr %1, align 4
  %213 = mul i32 %212, %211
  %214 = add i32 %213, %191
  %215 = shl i32 %212, 1
  %216 = load i32, ptr %122, align 4
  %217 = icmp eq i32 %216, 0
  br i1 %217, label %237, label %218
218:
  %219 = shl i32 %210, 9
  %220 = zext i32 %219 to i64
  br label %221
221:
  %222 = phi i64 [ 0, %218 ], [ %235, %221 ]
  %223 = load ptr, ptr %146, align 8
  %224 = getelementptr inbounds nuw i8, ptr %223, i64 %220
  %225 = getelementptr inbounds nuw i64, ptr %224, i64 %222
  %226 = load i64, ptr %225, align 8
  %227 = trunc nuw nsw i64 %222 to i32
  %228 = and i32 %227, 3
  %229 = mul i32 %228, %215
  %230 = lshr i32 %227, 2
  %231 = add i32 %230, %214
  %232 = add i32 %231, %229
  %233 = zext i32 %232 to i64
  %234 = getelementptr inbounds nuw i64, ptr %4, i64 %233
  store i64 %226, ptr %234, align 8
  %235 = add nuw nsw i64 %222, 1
  %236 = icmp eq i64 %235, 32
  br i1 %236, label %307, label %221
237:
  %238 = load ptr, ptr %146, align 8
  %239 = shl i32 %210, 9
  %240 = zext i32 %239 to i64
  %241 = getelementptr inbounds nuw i8, ptr %238, i64 %240
  %242 = load <32 x i32>, ptr %241, align 4
  %243 = shufflevector <32 x i32> %242, <32 x i32> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  br i1 %207, label %253, label %244
244:
  %245 = shl nuw nsw i32 %204, 4
  %246 = insertelement <8 x i32> poison, i32 %245, i64 0
  %247 = shufflevector <8 x i32> %246, <8 x i32> poison, <8 x i32> zeroinitializer
  %248 = lshr <8 x i32> %243, %247
  %249 = trunc <8 x i32> %248 to <8 x i16>
  %250 = bitcast <8 x i16> %249 to <8 x half>
  %251 = fpext <8 x half> %250 to <8 x float>
  %252 = bitcast <8 x float> %251 to <8 x i32>
  br label %253
253:
  %254 = phi <8 x i32> [ %252, %244 ], [ %243, %237 ]
  %255 = zext i32 %214 to i64
  %256 = getelementptr inbounds nuw i32, ptr %4, i64 %255
  store <8 x i32> %254, ptr %256, align 4
  %257 = shufflevector <32 x i32> %242, <32 x i32> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %258 = load i32, ptr %145, align 4
  %259 = icmp eq i32 %258, 0
  br i1 %259, label %269, label %260
260:
  %261 = shl nuw nsw i32 %204, 4
  %262 = insertelement <8 x i32> poison, i32 %261, i64 0
  %263 = shufflevector <8 x i32> %262, <8 x i32> poison, <8 x i32> zeroinitializer
  %264 = lshr <8 x i32> %257, %263
  %265 = trunc <8 x i32> %264 to <8 x i16>
  %266 = bitcast <8 x i16> %265 to <8 x half>
  %267 = fpext <8 x half> %266 to <8 x float>
  %268 = bitcast <8 x float> %267 to <8 x i32>
  br label %269
269:
  %270 = phi <8 x i32> [ %268, %260 ], [ %257, %253 ]
  %271 = zext i32 %215 to i64
  %272 = getelementptr inbounds nuw i32, ptr %256, i64 %271
  store <8 x i32> %270, ptr %272, align 4
  %273 = shufflevector <32 x i32> %242, <32 x i32> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %274 = load i32, ptr %145, align 4
  %275 = icmp eq i32 %274, 0
  br i1 %275, label %285, label %276
276:
  %277 = shl nuw nsw i32 %204, 4
  %278 = insertelement <8 x i32> poison, i32 %277, i64 0
  %279 = shufflevector <8 x i32> %278, <8 x i32> poison, <8 x i32> zeroinitializer
  %280 = lshr <8 x i32> %273, %279
  %281 = trunc <8 x i32> %280 to <8 x i16>
  %282 = bitcast <8 x i16> %281 to <8 x half>
  %283 = fpext <8 x half> %282 to <8 x float>
  %284 = bitcast <8 x float> %283 to <8 x i32>
  br label %285
285:
  %286 = phi <8 x i32> [ %284, %276 ], [ %273, %269 ]
  %287 = shl i32 %212, 2
  %288 = zext i32 %287 to i64
  %289 = getelementptr inbounds nuw i32, ptr %256, i64 %288
  store <8 x i32> %286, ptr %289, align 4
  %290 = shufflevector <32 x i32> %242, <32 x i32> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %291 = load i32, ptr %145, align 4
  %292 = icmp eq i32 %291, 0
  br i1 %292, label %302, label %293
293:
  %294 = shl nuw nsw i32 %204, 4
  %295 = insertelement <8 x i32> poison, i32 %294, i64 0
  %296 = shufflevector <8 x i32> %295, <8 x i32> poison, <8 x i32> zeroinitializer
  %297 = lshr <8 x i32> %290, %296
  %298 = trunc <8 x i32> %297 to <8 x i16>
  %299 = bitcast <8 x i16> %298 to <8 x half>
  %300 = fpext <8 x half> %299 to <8 x float>
  %301 = bitcast <8 x float> %300 to <8 x i32>
  br label %302
302:
  %303 = phi <8 x i32> [ %301, %293 ], [ %290, %285 ]
  %304 = mul i32 %212, 6
  %305 = zext i32 %304 to i64
  %306 = getelementptr inbounds nuw i32, ptr %256, i64 %305
  store <8 x i32> %303, ptr %306, align 4
  br label %307
307:
  br i1 %203, label %202, label %196
308:
  %309 = phi i32 [ %138, %137 ], [ %198, %196 ]
  %310 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %311 = load ptr, ptr %310, align 8
  %312 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %313 = load i32, ptr %312, align 4
  %314 = shl i32 %313, 9
  %315 = zext i32 %314 to i64
  %316 = getelementptr inbounds nuw i8, ptr %311, i64 %315
  %317 = load i32, ptr %122, align 4
  %318 = icmp eq i32 %317, 0
  br i1 %318, label %373, label %319
319:
  %320 = load i32, ptr %123, align 4
  %321 = icmp eq i32 %320, 0
  br i1 %321, label %1374, label %322
322:
  %323 = getelementptr inbounds nuw i8, ptr %1, i64 8
  br label %324
324:
  %325 = phi i32 [ %320, %322 ], [ %335, %334 ]
  %326 = phi i32 [ %309, %322 ], [ %336, %334 ]
  %327 = phi i32 [ 0, %322 ], [ %337, %334 ]
  %328 = phi ptr [ %3, %322 ], [ %340, %334 ]
  %329 = phi ptr [ %5, %322 ], [ %343, %334 ]
  %330 = phi ptr [ %4, %322 ], [ %342, %334 ]
  %331 = icmp eq i32 %326, 0
  br i1 %331, label %334, label %345
332:
  %333 = load i32, ptr %123, align 4
  br label %334
334:
  %335 = phi i32 [ %325, %324 ], [ %333, %332 ]
  %336 = phi i32 [ 0, %324 ], [ %359, %332 ]
  %337 = add nuw i32 %327, 1
  %338 = load i32, ptr %30, align 4
  %339 = zext i32 %338 to i64
  %340 = getelementptr inbounds nuw double, ptr %328, i64 %339
  %341 = zext i32 %336 to i64
  %342 = getelementptr inbounds nuw double, ptr %330, i64 %341
  %343 = getelementptr inbounds nuw double, ptr %329, i64 %341
  %344 = icmp ult i32 %337, %335
  br i1 %344, label %324, label %1374
345:
  %346 = phi i32 [ %358, %355 ], [ 0, %324 ]
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %29)
  %347 = zext i32 %346 to i64
  %348 = getelementptr inbounds nuw double, ptr %330, i64 %347
  %349 = load <8 x double>, ptr %348, align 8
  store <8 x double> %349, ptr %29, align 8
  %350 = getelementptr inbounds nuw double, ptr %2, i64 %347
  %351 = load i32, ptr %323, align 4
  %352 = icmp eq i32 %351, 0
  br i1 %352, label %355, label %361
353:
  %354 = load <8 x double>, ptr %29, align 8
  br label %355
355:
  %356 = phi <8 x double> [ %354, %353 ], [ %349, %345 ]
  %357 = getelementptr inbounds nuw double, ptr %329, i64 %347
  store <8 x double> %356, ptr %357, align 8
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %29)
  %358 = add i32 %346, 8
  %359 = load i32, ptr %1, align 4
  %360 = icmp ult i32 %358, %359
  br i1 %360, label %345, label %332
361:
  %362 = phi i64 [ %369, %361 ], [ 0, %345 ]
  %363 = load i32, ptr %1, align 4
  %364 = trunc nuw i64 %362 to i32
  %365 = mul i32 %363, %364
  %366 = zext i32 %365 to i64
  %367 = getelementptr inbounds nuw double, ptr %350, i64 %366
  %368 = getelementptr inbounds nuw double, ptr %328, i64 %362
  call void %12(ptr %367, ptr %368, ptr nonnull %29)
  %369 = add nuw nsw i64 %362, 1
  %370 = load i32, ptr %323, align 4
  %371 = zext i32 %370 to i64
  %372 = icmp samesign ult i64 %369, %371
  br i1 %372, label %361, label %353
373:
  %374 = getelementptr inbounds nuw i8, ptr %1, i64 44
  %375 = load i32, ptr %374, align 4
  %376 = icmp eq i32 %375, 0
  br i1 %376, label %427, label %377
377:
  %378 = load i32, ptr %123, align 4
  %379 = icmp eq i32 %378, 0
  br i1 %379, label %1374, label %380
380:
  %381 = load i32, ptr %30, align 4
  %382 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %383 = load i32, ptr %382, align 4
  %384 = zext i32 %309 to i64
  %385 = shl nuw nsw i64 %384, 2
  %386 = icmp eq i32 %381, 0
  %387 = icmp eq i32 %309, 0
  %388 = icmp eq i32 %383, 0
  %389 = zext i32 %381 to i64
  br label %390
390:
  %391 = phi ptr [ %3, %380 ], [ %403, %401 ]
  %392 = phi ptr [ %4, %380 ], [ %404, %401 ]
  %393 = phi i32 [ 0, %380 ], [ %402, %401 ]
  %394 = phi ptr [ %5, %380 ], [ %405, %401 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 4 %394, ptr align 4 %392, i64 %385, i1 false)
  br i1 %386, label %401, label %395
395:
  %396 = phi i64 [ %408, %407 ], [ 0, %390 ]
  br i1 %387, label %407, label %397
397:
  %398 = trunc nuw i64 %396 to i32
  %399 = mul i32 %309, %398
  %400 = getelementptr inbounds nuw i32, ptr %391, i64 %396
  br label %410
401:
  %402 = add nuw i32 %393, 1
  %403 = getelementptr inbounds nuw i32, ptr %391, i64 %389
  %404 = getelementptr inbounds nuw i32, ptr %392, i64 %384
  %405 = getelementptr inbounds nuw i32, ptr %394, i64 %384
  %406 = icmp eq i32 %402, %378
  br i1 %406, label %1372, label %390
407:
  %408 = add nuw nsw i64 %396, 1
  %409 = icmp eq i64 %408, %389
  br i1 %409, label %401, label %395
410:
  %411 = phi i64 [ 0, %397 ], [ %425, %410 ]
  %412 = trunc nuw i64 %411 to i32
  %413 = add i32 %399, %412
  %414 = zext i32 %413 to i64
  %415 = getelementptr inbounds nuw i32, ptr %2, i64 %414
  %416 = load i32, ptr %415, align 4
  %417 = load i32, ptr %400, align 4
  %418 = xor i32 %417, %416
  %419 = and i32 %417, %416
  %420 = select i1 %388, i32 %419, i32 %418
  %421 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %420)
  %422 = getelementptr inbounds nuw i32, ptr %394, i64 %411
  %423 = load i32, ptr %422, align 4
  %424 = add i32 %421, %423
  store i32 %424, ptr %422, align 4
  %425 = add nuw nsw i64 %411, 1
  %426 = icmp eq i64 %425, %384
  br i1 %426, label %407, label %410
427:
  %428 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %429 = load i32, ptr %428, align 4
  %430 = icmp eq i32 %429, 0
  br i1 %430, label %431, label %774
431:
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %25)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %26)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %27)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %28)
  %432 = getelementptr inbounds nuw i8, ptr %1, i64 76
  %433 = load i32, ptr %432, align 4
  %434 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %435 = load i32, ptr %434, align 4
  %436 = udiv i32 16, %435
  %437 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %438 = load i32, ptr %437, align 4
  %439 = icmp ult i32 %438, 2
  br i1 %439, label %498, label %440
440:
  %441 = lshr i32 %438, 1
  %442 = getelementptr inbounds nuw i8, ptr %1, i64 104
  %443 = load i32, ptr %442, align 4
  %444 = icmp eq i32 %309, 0
  %445 = icmp eq i32 %443, 0
  %446 = sub i32 32, %435
  %447 = insertelement <16 x i32> poison, i32 %446, i64 0
  %448 = shufflevector <16 x i32> %447, <16 x i32> poison, <16 x i32> zeroinitializer
  %449 = zext i32 %309 to i64
  %450 = zext nneg i32 %441 to i64
  br label %451
451:
  %452 = phi i64 [ 0, %440 ], [ %475, %474 ]
  br i1 %444, label %474, label %453
453:
  %454 = trunc nuw nsw i64 %452 to i32
  %455 = udiv i32 %454, %436
  %456 = mul i32 %455, %309
  %457 = zext i32 %456 to i64
  %458 = getelementptr inbounds nuw i32, ptr %2, i64 %457
  %459 = urem i32 %454, %436
  %460 = shl nuw nsw i32 %459, 1
  %461 = xor i32 %460, -1
  %462 = mul i32 %435, %461
  %463 = add i32 %462, 32
  %464 = insertelement <16 x i32> poison, i32 %463, i64 0
  %465 = shufflevector <16 x i32> %464, <16 x i32> poison, <16 x i32> zeroinitializer
  %466 = xor i32 %460, -2
  %467 = mul i32 %466, %435
  %468 = add i32 %467, 32
  %469 = insertelement <16 x i32> poison, i32 %468, i64 0
  %470 = shufflevector <16 x i32> %469, <16 x i32> poison, <16 x i32> zeroinitializer
  %471 = mul i32 %309, %454
  %472 = zext i32 %471 to i64
  %473 = getelementptr inbounds nuw i32, ptr %25, i64 %472
  br label %477
474:
  %475 = add nuw nsw i64 %452, 1
  %476 = icmp eq i64 %475, %450
  br i1 %476, label %498, label %451
477:
  %478 = phi i64 [ 0, %453 ], [ %496, %489 ]
  %479 = getelementptr inbounds nuw i32, ptr %458, i64 %478
  %480 = load <16 x i32>, ptr %479, align 4
  %481 = shl <16 x i32> %480, %465
  %482 = shl <16 x i32> %480, %470
  br i1 %445, label %486, label %483
483:
  %484 = ashr <16 x i32> %481, %448
  %485 = ashr <16 x i32> %482, %448
  br label %489
486:
  %487 = lshr <16 x i32> %481, %448
  %488 = lshr <16 x i32> %482, %448
  br label %489
489:
  %490 = phi <16 x i32> [ %484, %483 ], [ %487, %486 ]
  %491 = phi <16 x i32> [ %485, %483 ], [ %488, %486 ]
  %492 = and <16 x i32> %490, splat (i32 65535)
  %493 = shl <16 x i32> %491, splat (i32 16)
  %494 = or disjoint <16 x i32> %493, %492
  %495 = getelementptr inbounds nuw i32, ptr %473, i64 %478
  store <16 x i32> %494, ptr %495, align 4
  %496 = add nuw nsw i64 %478, 16
  %497 = icmp samesign ult i64 %496, %449
  br i1 %497, label %477, label %474
498:
  %499 = icmp eq i32 %433, 0
  %500 = icmp eq i32 %309, 0
  %501 = or i1 %499, %500
  br i1 %501, label %545, label %502
502:
  %503 = getelementptr inbounds nuw i8, ptr %1, i64 72
  %504 = load i32, ptr %503, align 4
  %505 = icmp eq i32 %504, 0
  %506 = zext i32 %504 to i64
  br label %507
507:
  %508 = phi ptr [ %6, %502 ], [ %511, %510 ]
  %509 = phi i32 [ 0, %502 ], [ %512, %510 ]
  br i1 %505, label %510, label %514
510:
  %511 = phi ptr [ %508, %507 ], [ %528, %527 ]
  %512 = add nuw i32 %509, 1
  %513 = icmp eq i32 %512, %309
  br i1 %513, label %545, label %507
514:
  %515 = phi i64 [ %529, %527 ], [ 0, %507 ]
  %516 = phi ptr [ %528, %527 ], [ %508, %507 ]
  %517 = load i32, ptr %516, align 4
  %518 = lshr i32 %517, 5
  %519 = zext nneg i32 %518 to i64
  %520 = getelementptr inbounds nuw i32, ptr %316, i64 %519
  %521 = load i32, ptr %520, align 4
  %522 = and i32 %517, 31
  %523 = lshr i32 %521, %522
  %524 = trunc nuw i64 %515 to i32
  %525 = shl i32 %524, 2
  %526 = shl nuw i64 %515, 1
  br label %531
527:
  %528 = getelementptr inbounds nuw i8, ptr %516, i64 4
  %529 = add nuw nsw i64 %515, 1
  %530 = icmp eq i64 %529, %506
  br i1 %530, label %510, label %514
531:
  %532 = phi i1 [ true, %514 ], [ false, %531 ]
  %533 = phi i64 [ 0, %514 ], [ 1, %531 ]
  %534 = phi i32 [ %523, %514 ], [ %544, %531 ]
  %535 = and i32 %534, 3
  %536 = or disjoint i32 %535, %525
  %537 = mul i32 %536, %433
  %538 = or disjoint i64 %533, %526
  %539 = trunc i64 %538 to i32
  %540 = mul i32 %309, %539
  %541 = add i32 %540, %509
  %542 = zext i32 %541 to i64
  %543 = getelementptr inbounds nuw i32, ptr %27, i64 %542
  store i32 %537, ptr %543, align 4
  %544 = lshr i32 %534, 2
  br i1 %532, label %531, label %527
545:
  %546 = load i32, ptr %123, align 4
  %547 = icmp eq i32 %546, 0
  br i1 %547, label %772, label %548
548:
  %549 = icmp eq i32 %309, 0
  %550 = zext i32 %309 to i64
  %551 = getelementptr inbounds nuw i8, ptr %1, i64 112
  %552 = getelementptr inbounds nuw i8, ptr %1, i64 32
  br label %553
553:
  %554 = phi i32 [ %546, %548 ], [ %712, %711 ]
  %555 = phi ptr [ %3, %548 ], [ %716, %711 ]
  %556 = phi ptr [ %4, %548 ], [ %717, %711 ]
  %557 = phi ptr [ %5, %548 ], [ %718, %711 ]
  %558 = phi i32 [ 0, %548 ], [ %713, %711 ]
  br i1 %499, label %559, label %567
559:
  %560 = load i32, ptr %437, align 4
  %561 = icmp eq i32 %560, 0
  br i1 %561, label %708, label %562
562:
  %563 = load i32, ptr %434, align 4
  %564 = icmp eq i32 %563, 8
  %565 = load i32, ptr %551, align 4
  %566 = icmp eq i32 %565, 0
  br label %678
567:
  %568 = load i32, ptr %30, align 4
  %569 = load i32, ptr %432, align 4
  %570 = icmp eq i32 %568, 0
  br i1 %570, label %615, label %571
571:
  %572 = icmp eq i32 %569, 2
  br label %573
573:
  %574 = phi ptr [ %28, %571 ], [ %584, %582 ]
  %575 = phi i32 [ 0, %571 ], [ %583, %582 ]
  br i1 %549, label %582, label %576
576:
  %577 = udiv i32 4, %569
  %578 = mul i32 %577, %575
  br label %579
579:
  %580 = phi i64 [ 0, %576 ], [ %588, %586 ]
  %581 = trunc nuw i64 %580 to i32
  br label %590
582:
  %583 = add nuw i32 %575, 1
  %584 = getelementptr inbounds nuw i32, ptr %574, i64 %550
  %585 = icmp eq i32 %583, %568
  br i1 %585, label %615, label %573
586:
  %587 = getelementptr inbounds nuw i32, ptr %574, i64 %580
  store i32 %612, ptr %587, align 4
  %588 = add nuw nsw i64 %580, 1
  %589 = icmp eq i64 %588, %550
  br i1 %589, label %582, label %579
590:
  %591 = phi i32 [ 0, %579 ], [ %613, %608 ]
  %592 = phi i32 [ 0, %579 ], [ %612, %608 ]
  %593 = udiv i32 %591, %569
  %594 = add i32 %578, %593
  %595 = mul i32 %594, %309
  %596 = add i32 %595, %581
  %597 = zext i32 %596 to i64
  %598 = getelementptr inbounds nuw i32, ptr %27, i64 %597
  %599 = load i32, ptr %598, align 4
  %600 = zext i32 %599 to i64
  %601 = getelementptr inbounds nuw i8, ptr %555, i64 %600
  br i1 %572, label %602, label %605
602:
  %603 = load i16, ptr %601, align 2
  %604 = zext i16 %603 to i32
  br label %608
605:
  %606 = load i8, ptr %601, align 1
  %607 = zext i8 %606 to i32
  br label %608
608:
  %609 = phi i32 [ %604, %602 ], [ %607, %605 ]
  %610 = shl nuw nsw i32 %591, 3
  %611 = shl i32 %609, %610
  %612 = or i32 %611, %592
  %613 = add i32 %591, %569
  %614 = icmp ult i32 %613, 4
  br i1 %614, label %590, label %586
615:
  %616 = load i32, ptr %434, align 4
  %617 = udiv i32 16, %616
  %618 = load i32, ptr %1, align 4
  %619 = load i32, ptr %437, align 4
  %620 = icmp ult i32 %619, 2
  br i1 %620, label %708, label %621
621:
  %622 = lshr i32 %619, 1
  %623 = load i32, ptr %551, align 4
  %624 = icmp eq i32 %618, 0
  %625 = icmp eq i32 %623, 0
  %626 = sub i32 32, %616
  %627 = insertelement <16 x i32> poison, i32 %626, i64 0
  %628 = shufflevector <16 x i32> %627, <16 x i32> poison, <16 x i32> zeroinitializer
  %629 = zext i32 %618 to i64
  %630 = zext nneg i32 %622 to i64
  br label %631
631:
  %632 = phi i64 [ 0, %621 ], [ %655, %654 ]
  br i1 %624, label %654, label %633
633:
  %634 = trunc nuw nsw i64 %632 to i32
  %635 = udiv i32 %634, %617
  %636 = mul i32 %635, %618
  %637 = zext i32 %636 to i64
  %638 = getelementptr inbounds nuw i32, ptr %28, i64 %637
  %639 = urem i32 %634, %617
  %640 = shl nuw nsw i32 %639, 1
  %641 = xor i32 %640, -1
  %642 = mul i32 %616, %641
  %643 = add i32 %642, 32
  %644 = insertelement <16 x i32> poison, i32 %643, i64 0
  %645 = shufflevector <16 x i32> %644, <16 x i32> poison, <16 x i32> zeroinitializer
  %646 = xor i32 %640, -2
  %647 = mul i32 %646, %616
  %648 = add i32 %647, 32
  %649 = insertelement <16 x i32> poison, i32 %648, i64 0
  %650 = shufflevector <16 x i32> %649, <16 x i32> poison, <16 x i32> zeroinitializer
  %651 = mul i32 %618, %634
  %652 = zext i32 %651 to i64
  %653 = getelementptr inbounds nuw i32, ptr %26, i64 %652
  br label %657
654:
  %655 = add nuw nsw i64 %632, 1
  %656 = icmp eq i64 %655, %630
  br i1 %656, label %708, label %631
657:
  %658 = phi i64 [ 0, %633 ], [ %676, %669 ]
  %659 = getelementptr inbounds nuw i32, ptr %638, i64 %658
  %660 = load <16 x i32>, ptr %659, align 4
  %661 = shl <16 x i32> %660, %645
  %662 = shl <16 x i32> %660, %650
  br i1 %625, label %666, label %663
663:
  %664 = ashr <16 x i32> %661, %628
  %665 = ashr <16 x i32> %662, %628
  br label %669
666:
  %667 = lshr <16 x i32> %661, %628
  %668 = lshr <16 x i32> %662, %628
  br label %669
669:
  %670 = phi <16 x i32> [ %664, %663 ], [ %667, %666 ]
  %671 = phi <16 x i32> [ %665, %663 ], [ %668, %666 ]
  %672 = and <16 x i32> %670, splat (i32 65535)
  %673 = shl <16 x i32> %671, splat (i32 16)
  %674 = or disjoint <16 x i32> %673, %672
  %675 = getelementptr inbounds nuw i32, ptr %653, i64 %658
  store <16 x i32> %674, ptr %675, align 4
  %676 = add nuw nsw i64 %658, 16
  %677 = icmp samesign ult i64 %676, %629
  br i1 %677, label %657, label %654
678:
  %679 = phi ptr [ %555, %562 ], [ %706, %703 ]
  %680 = phi i32 [ 0, %562 ], [ %705, %703 ]
  %681 = load <16 x i8>, ptr %679, align 1
  br i1 %564, label %682, label %688
682:
  %683 = sext <16 x i8> %681 to <16 x i16>
  %684 = zext <16 x i8> %681 to <16 x i16>
  %685 = select i1 %566, <16 x i16> %684, <16 x i16> %683
  %686 = zext i32 %680 to i64
  %687 = getelementptr inbounds nuw i16, ptr %26, i64 %686
  store <16 x i16> %685, ptr %687, align 16
  br label %703
688:
  br i1 %566, label %693, label %689
689:
  %690 = shl <16 x i8> %681, splat (i8 4)
  %691 = ashr exact <16 x i8> %690, splat (i8 4)
  %692 = ashr <16 x i8> %681, splat (i8 4)
  br label %696
693:
  %694 = and <16 x i8> %681, splat (i8 15)
  %695 = lshr <16 x i8> %681, splat (i8 4)
  br label %696
696:
  %697 = phi <16 x i8> [ %691, %689 ], [ %694, %693 ]
  %698 = phi <16 x i8> [ %692, %689 ], [ %695, %693 ]
  %699 = shufflevector <16 x i8> %697, <16 x i8> %698, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %700 = sext <32 x i8> %699 to <32 x i16>
  %701 = zext i32 %680 to i64
  %702 = getelementptr inbounds nuw i16, ptr %26, i64 %701
  store <32 x i16> %700, ptr %702, align 16
  br label %703
703:
  %704 = phi i32 [ 32, %696 ], [ 16, %682 ]
  %705 = add i32 %704, %680
  %706 = getelementptr inbounds nuw i8, ptr %679, i64 16
  %707 = icmp ult i32 %705, %560
  br i1 %707, label %678, label %708
708:
  br i1 %549, label %711, label %720
709:
  %710 = load i32, ptr %123, align 4
  br label %711
711:
  %712 = phi i32 [ %710, %709 ], [ %554, %708 ]
  %713 = add nuw i32 %558, 1
  %714 = load i32, ptr %119, align 4
  %715 = zext i32 %714 to i64
  %716 = getelementptr inbounds nuw i32, ptr %555, i64 %715
  %717 = getelementptr inbounds nuw i32, ptr %556, i64 %550
  %718 = getelementptr inbounds nuw i32, ptr %557, i64 %550
  %719 = icmp ult i32 %713, %712
  br i1 %719, label %553, label %772
720:
  %721 = phi i64 [ %770, %767 ], [ 0, %708 ]
  %722 = getelementptr inbounds nuw i32, ptr %556, i64 %721
  %723 = load <16 x i32>, ptr %722, align 4
  %724 = load i32, ptr %437, align 4
  %725 = getelementptr inbounds nuw i32, ptr %25, i64 %721
  %726 = getelementptr inbounds nuw i32, ptr %26, i64 %721
  %727 = icmp ult i32 %724, 2
  br i1 %727, label %731, label %728
728:
  %729 = lshr i32 %724, 1
  %730 = zext nneg i32 %729 to i64
  br label %735
731:
  %732 = phi <16 x i32> [ zeroinitializer, %720 ], [ %760, %751 ]
  %733 = load i32, ptr %552, align 4
  %734 = icmp eq i32 %733, 0
  br i1 %734, label %765, label %763
735:
  %736 = phi i64 [ 0, %728 ], [ %761, %751 ]
  %737 = phi <16 x i32> [ zeroinitializer, %728 ], [ %760, %751 ]
  %738 = trunc nuw nsw i64 %736 to i32
  %739 = mul i32 %309, %738
  %740 = zext i32 %739 to i64
  %741 = getelementptr inbounds nuw i32, ptr %725, i64 %740
  %742 = load <32 x i16>, ptr %741, align 4
  br i1 %499, label %746, label %743
743:
  %744 = getelementptr inbounds nuw i32, ptr %726, i64 %740
  %745 = load <16 x i32>, ptr %744, align 4
  br label %751
746:
  %747 = getelementptr inbounds nuw [512 x i32], ptr %26, i64 0, i64 %736
  %748 = load i32, ptr %747, align 4
  %749 = insertelement <16 x i32> poison, i32 %748, i64 0
  %750 = shufflevector <16 x i32> %749, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %751
751:
  %752 = phi <16 x i32> [ %745, %743 ], [ %750, %746 ]
  %753 = sext <32 x i16> %742 to <32 x i32>
  %754 = bitcast <16 x i32> %752 to <32 x i16>
  %755 = sext <32 x i16> %754 to <32 x i32>
  %756 = mul nsw <32 x i32> %755, %753
  %757 = shufflevector <32 x i32> %756, <32 x i32> poison, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %758 = shufflevector <32 x i32> %756, <32 x i32> poison, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %759 = add <16 x i32> %758, %737
  %760 = add <16 x i32> %759, %757
  %761 = add nuw nsw i64 %736, 1
  %762 = icmp eq i64 %761, %730
  br i1 %762, label %731, label %735
763:
  %764 = tail call <16 x i32> @llvm.sadd.sat.v16i32(<16 x i32> %732, <16 x i32> %723)
  br label %767
765:
  %766 = add <16 x i32> %732, %723
  br label %767
767:
  %768 = phi <16 x i32> [ %764, %763 ], [ %766, %765 ]
  %769 = getelementptr inbounds nuw i32, ptr %557, i64 %721
  store <16 x i32> %768, ptr %769, align 4
  %770 = add nuw nsw i64 %721, 16
  %771 = icmp samesign ult i64 %770, %550
  br i1 %771, label %720, label %709
772:
  %773 = phi i32 [ 0, %545 ], [ %712, %711 ]
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %28)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %27)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %26)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %25)
  br label %1374
774:
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %18)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %19)
  call void @llvm.lifetime.start.p0(i64 1024, ptr nonnull %20)
  call void @llvm.lifetime.start.p0(i64 1024, ptr nonnull %21)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %22)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %23)
  %775 = getelementptr inbounds nuw i8, ptr %1, i64 100
  %776 = load i32, ptr %775, align 4
  %777 = getelementptr inbounds nuw i8, ptr %1, i64 40
  %778 = load i32, ptr %777, align 4
  %779 = udiv i32 32, %778
  %780 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %781 = load i32, ptr %780, align 4
  %782 = mul i32 %781, %309
  %783 = icmp eq i32 %782, 0
  br i1 %783, label %788, label %784
784:
  %785 = getelementptr inbounds nuw i8, ptr %1, i64 36
  %786 = load i32, ptr %785, align 4
  %787 = icmp eq i32 %786, 0
  br label %801
788:
  %789 = phi i32 [ %781, %774 ], [ %825, %823 ]
  %790 = lshr i32 %789, 1
  %791 = mul i32 %790, %309
  %792 = icmp eq i32 %791, 0
  br i1 %792, label %877, label %793
793:
  %794 = insertelement <16 x i32> poison, i32 %776, i64 0
  %795 = shufflevector <16 x i32> %794, <16 x i32> poison, <16 x i32> zeroinitializer
  %796 = zext i32 %309 to i64
  %797 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %798 = load i32, ptr %797, align 4
  %799 = icmp eq i32 %798, 0
  %800 = zext i32 %791 to i64
  br label %828
801:
  %802 = phi i32 [ 0, %784 ], [ %824, %823 ]
  %803 = udiv i32 %802, %309
  %804 = urem i32 %802, %309
  %805 = udiv i32 %803, %779
  %806 = mul i32 %805, %309
  %807 = zext i32 %806 to i64
  %808 = getelementptr inbounds nuw i32, ptr %2, i64 %807
  %809 = zext i32 %804 to i64
  %810 = getelementptr inbounds nuw i32, ptr %808, i64 %809
  %811 = load <16 x i32>, ptr %810, align 4
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %16)
  %812 = urem i32 %803, %779
  %813 = load i32, ptr %777, align 4
  %814 = mul i32 %813, %812
  %815 = insertelement <16 x i32> poison, i32 %814, i64 0
  %816 = shufflevector <16 x i32> %815, <16 x i32> poison, <16 x i32> zeroinitializer
  %817 = lshr <16 x i32> %811, %816
  store <16 x i32> %817, ptr %16, align 4
  %818 = zext i32 %802 to i64
  %819 = getelementptr inbounds nuw float, ptr %18, i64 %818
  call void %7(ptr nonnull %16, ptr nonnull %819)
  br i1 %787, label %823, label %820
820:
  %821 = load <16 x float>, ptr %819, align 16
  %822 = fneg <16 x float> %821
  store <16 x float> %822, ptr %819, align 16
  br label %823
823:
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %16)
  %824 = add i32 %802, 16
  %825 = load i32, ptr %780, align 4
  %826 = mul i32 %825, %309
  %827 = icmp ult i32 %824, %826
  br i1 %827, label %801, label %788
828:
  %829 = phi i64 [ 0, %793 ], [ %875, %866 ]
  %830 = phi <16 x i32> [ zeroinitializer, %793 ], [ %870, %866 ]
  %831 = trunc nuw i64 %829 to i32
  %832 = urem i32 %831, %309
  %833 = sub nuw i32 %831, %832
  %834 = shl i32 %833, 1
  %835 = zext i32 %834 to i64
  %836 = getelementptr inbounds nuw float, ptr %18, i64 %835
  %837 = zext i32 %832 to i64
  %838 = getelementptr inbounds nuw float, ptr %836, i64 %837
  %839 = load <16 x i32>, ptr %838, align 4
  %840 = shl <16 x i32> %839, splat (i32 1)
  %841 = lshr <16 x i32> %840, splat (i32 24)
  %842 = add nsw <16 x i32> %841, splat (i32 -127)
  %843 = icmp eq <16 x i32> %840, zeroinitializer
  %844 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %842, <16 x i32> %795)
  %845 = select <16 x i1> %843, <16 x i32> splat (i32 -2000), <16 x i32> %844
  %846 = getelementptr inbounds nuw float, ptr %838, i64 %796
  %847 = load <16 x i32>, ptr %846, align 4
  %848 = shl <16 x i32> %847, splat (i32 1)
  %849 = lshr <16 x i32> %848, splat (i32 24)
  %850 = add nsw <16 x i32> %849, splat (i32 -127)
  %851 = icmp eq <16 x i32> %848, zeroinitializer
  %852 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %850, <16 x i32> %795)
  %853 = select <16 x i1> %851, <16 x i32> splat (i32 -2000), <16 x i32> %852
  br i1 %799, label %863, label %854
854:
  %855 = add nsw <16 x i32> %845, splat (i32 -51)
  %856 = icmp ult <16 x i32> %855, splat (i32 -101)
  %857 = icmp ne <16 x i32> %845, splat (i32 -2000)
  %858 = and <16 x i1> %857, %856
  %859 = add nsw <16 x i32> %853, splat (i32 -51)
  %860 = icmp ult <16 x i32> %859, splat (i32 -101)
  %861 = icmp ne <16 x i32> %853, splat (i32 -2000)
  %862 = and <16 x i1> %861, %860
  br label %866
863:
  %864 = icmp eq <16 x i32> %845, splat (i32 128)
  %865 = icmp eq <16 x i32> %853, splat (i32 128)
  br label %866
866:
  %867 = phi <16 x i1> [ %858, %854 ], [ %864, %863 ]
  %868 = phi <16 x i1> [ %862, %854 ], [ %865, %863 ]
  %869 = or <16 x i1> %867, %868
  %870 = select <16 x i1> %869, <16 x i32> splat (i32 -1), <16 x i32> %830
  %871 = and <16 x i32> %845, splat (i32 65535)
  %872 = shl <16 x i32> %853, splat (i32 16)
  %873 = or disjoint <16 x i32> %872, %871
  %874 = getelementptr inbounds nuw i32, ptr %20, i64 %829
  store <16 x i32> %873, ptr %874, align 16
  %875 = add nuw nsw i64 %829, 16
  %876 = icmp samesign ult i64 %875, %800
  br i1 %876, label %828, label %877
877:
  %878 = phi <16 x i32> [ zeroinitializer, %788 ], [ %870, %866 ]
  %879 = getelementptr inbounds nuw i8, ptr %1, i64 76
  %880 = load i32, ptr %879, align 4
  %881 = icmp eq i32 %880, 0
  %882 = icmp eq i32 %309, 0
  %883 = or i1 %881, %882
  br i1 %883, label %927, label %884
884:
  %885 = getelementptr inbounds nuw i8, ptr %1, i64 72
  %886 = load i32, ptr %885, align 4
  %887 = icmp eq i32 %886, 0
  %888 = zext i32 %886 to i64
  br label %889
889:
  %890 = phi ptr [ %6, %884 ], [ %893, %892 ]
  %891 = phi i32 [ 0, %884 ], [ %894, %892 ]
  br i1 %887, label %892, label %896
892:
  %893 = phi ptr [ %890, %889 ], [ %910, %909 ]
  %894 = add nuw i32 %891, 1
  %895 = icmp eq i32 %894, %309
  br i1 %895, label %927, label %889
896:
  %897 = phi i64 [ %911, %909 ], [ 0, %889 ]
  %898 = phi ptr [ %910, %909 ], [ %890, %889 ]
  %899 = load i32, ptr %898, align 4
  %900 = lshr i32 %899, 5
  %901 = zext nneg i32 %900 to i64
  %902 = getelementptr inbounds nuw i32, ptr %316, i64 %901
  %903 = load i32, ptr %902, align 4
  %904 = and i32 %899, 31
  %905 = lshr i32 %903, %904
  %906 = trunc nuw i64 %897 to i32
  %907 = shl i32 %906, 2
  %908 = shl nuw i64 %897, 1
  br label %913
909:
  %910 = getelementptr inbounds nuw i8, ptr %898, i64 4
  %911 = add nuw nsw i64 %897, 1
  %912 = icmp eq i64 %911, %888
  br i1 %912, label %892, label %896
913:
  %914 = phi i1 [ true, %896 ], [ false, %913 ]
  %915 = phi i64 [ 0, %896 ], [ 1, %913 ]
  %916 = phi i32 [ %905, %896 ], [ %926, %913 ]
  %917 = and i32 %916, 3
  %918 = or disjoint i32 %917, %907
  %919 = mul i32 %918, %880
  %920 = or disjoint i64 %915, %908
  %921 = trunc i64 %920 to i32
  %922 = mul i32 %309, %921
  %923 = add i32 %922, %891
  %924 = zext i32 %923 to i64
  %925 = getelementptr inbounds nuw i32, ptr %22, i64 %924
  store i32 %919, ptr %925, align 4
  %926 = lshr i32 %916, 2
  br i1 %914, label %913, label %909
927:
  %928 = load i32, ptr %123, align 4
  %929 = icmp eq i32 %928, 0
  br i1 %929, label %1370, label %930
930:
  %931 = icmp eq i32 %309, 0
  %932 = zext i32 %309 to i64
  %933 = getelementptr inbounds nuw i8, ptr %1, i64 108
  %934 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %935 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %936 = getelementptr inbounds nuw i8, ptr %1, i64 68
  %937 = getelementptr inbounds nuw i8, ptr %1, i64 12
  %938 = getelementptr inbounds nuw i8, ptr %1, i64 116
  %939 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %940 = getelementptr inbounds nuw i8, ptr %1, i64 92
  %941 = icmp ne i32 %309, 0
  br label %942
942:
  %943 = phi ptr [ %3, %930 ], [ %1355, %1351 ]
  %944 = phi ptr [ %4, %930 ], [ %1356, %1351 ]
  %945 = phi ptr [ %5, %930 ], [ %1357, %1351 ]
  %946 = phi i32 [ 0, %930 ], [ %1352, %1351 ]
  %947 = load i32, ptr %879, align 4
  %948 = icmp eq i32 %947, 0
  br i1 %948, label %949, label %952
949:
  %950 = load i32, ptr %780, align 4
  %951 = icmp eq i32 %950, 0
  br i1 %951, label %1137, label %1091
952:
  %953 = load i32, ptr %30, align 4
  %954 = icmp eq i32 %953, 0
  br i1 %954, label %999, label %955
955:
  %956 = icmp eq i32 %947, 2
  br label %957
957:
  %958 = phi ptr [ %23, %955 ], [ %968, %966 ]
  %959 = phi i32 [ 0, %955 ], [ %967, %966 ]
  br i1 %931, label %966, label %960
960:
  %961 = udiv i32 4, %947
  %962 = mul i32 %961, %959
  br label %963
963:
  %964 = phi i64 [ 0, %960 ], [ %972, %970 ]
  %965 = trunc nuw i64 %964 to i32
  br label %974
966:
  %967 = add nuw i32 %959, 1
  %968 = getelementptr inbounds nuw i32, ptr %958, i64 %932
  %969 = icmp eq i32 %967, %953
  br i1 %969, label %999, label %957
970:
  %971 = getelementptr inbounds nuw i32, ptr %958, i64 %964
  store i32 %996, ptr %971, align 4
  %972 = add nuw nsw i64 %964, 1
  %973 = icmp eq i64 %972, %932
  br i1 %973, label %966, label %963
974:
  %975 = phi i32 [ 0, %963 ], [ %997, %992 ]
  %976 = phi i32 [ 0, %963 ], [ %996, %992 ]
  %977 = udiv i32 %975, %947
  %978 = add i32 %962, %977
  %979 = mul i32 %978, %309
  %980 = add i32 %979, %965
  %981 = zext i32 %980 to i64
  %982 = getelementptr inbounds nuw i32, ptr %22, i64 %981
  %983 = load i32, ptr %982, align 4
  %984 = zext i32 %983 to i64
  %985 = getelementptr inbounds nuw i8, ptr %943, i64 %984
  br i1 %956, label %986, label %989
986:
  %987 = load i16, ptr %985, align 2
  %988 = zext i16 %987 to i32
  br label %992
989:
  %990 = load i8, ptr %985, align 1
  %991 = zext i8 %990 to i32
  br label %992
992:
  %993 = phi i32 [ %988, %986 ], [ %991, %989 ]
  %994 = shl nuw nsw i32 %975, 3
  %995 = shl i32 %993, %994
  %996 = or i32 %995, %976
  %997 = add i32 %975, %947
  %998 = icmp ult i32 %997, 4
  br i1 %998, label %974, label %970
999:
  %1000 = load i32, ptr %933, align 4
  %1001 = load i32, ptr %1, align 4
  %1002 = load i32, ptr %777, align 4
  %1003 = udiv i32 32, %1002
  %1004 = load i32, ptr %780, align 4
  %1005 = mul i32 %1004, %1001
  %1006 = icmp eq i32 %1005, 0
  br i1 %1006, label %1007, label %1019
1007:
  %1008 = phi i32 [ %1004, %999 ], [ %1039, %1019 ]
  %1009 = lshr i32 %1008, 1
  %1010 = mul i32 %1009, %1001
  %1011 = icmp eq i32 %1010, 0
  br i1 %1011, label %1137, label %1012
1012:
  %1013 = insertelement <16 x i32> poison, i32 %1000, i64 0
  %1014 = shufflevector <16 x i32> %1013, <16 x i32> poison, <16 x i32> zeroinitializer
  %1015 = zext i32 %1001 to i64
  %1016 = load i32, ptr %934, align 4
  %1017 = icmp eq i32 %1016, 0
  %1018 = zext i32 %1010 to i64
  br label %1042
1019:
  %1020 = phi i32 [ %1038, %1019 ], [ 0, %999 ]
  %1021 = udiv i32 %1020, %1001
  %1022 = urem i32 %1020, %1001
  %1023 = udiv i32 %1021, %1003
  %1024 = mul i32 %1023, %1001
  %1025 = zext i32 %1024 to i64
  %1026 = getelementptr inbounds nuw i32, ptr %23, i64 %1025
  %1027 = zext i32 %1022 to i64
  %1028 = getelementptr inbounds nuw i32, ptr %1026, i64 %1027
  %1029 = load <16 x i32>, ptr %1028, align 4
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %17)
  %1030 = urem i32 %1021, %1003
  %1031 = load i32, ptr %777, align 4
  %1032 = mul i32 %1031, %1030
  %1033 = insertelement <16 x i32> poison, i32 %1032, i64 0
  %1034 = shufflevector <16 x i32> %1033, <16 x i32> poison, <16 x i32> zeroinitializer
  %1035 = lshr <16 x i32> %1029, %1034
  store <16 x i32> %1035, ptr %17, align 4
  %1036 = zext i32 %1020 to i64
  %1037 = getelementptr inbounds nuw float, ptr %19, i64 %1036
  call void %8(ptr nonnull %17, ptr nonnull %1037)
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %17)
  %1038 = add i32 %1020, 16
  %1039 = load i32, ptr %780, align 4
  %1040 = mul i32 %1039, %1001
  %1041 = icmp ult i32 %1038, %1040
  br i1 %1041, label %1019, label %1007
1042:
  %1043 = phi i64 [ 0, %1012 ], [ %1089, %1080 ]
  %1044 = phi <16 x i32> [ zeroinitializer, %1012 ], [ %1084, %1080 ]
  %1045 = trunc nuw i64 %1043 to i32
  %1046 = urem i32 %1045, %1001
  %1047 = sub nuw i32 %1045, %1046
  %1048 = shl i32 %1047, 1
  %1049 = zext i32 %1048 to i64
  %1050 = getelementptr inbounds nuw float, ptr %19, i64 %1049
  %1051 = zext i32 %1046 to i64
  %1052 = getelementptr inbounds nuw float, ptr %1050, i64 %1051
  %1053 = load <16 x i32>, ptr %1052, align 4
  %1054 = shl <16 x i32> %1053, splat (i32 1)
  %1055 = lshr <16 x i32> %1054, splat (i32 24)
  %1056 = add nsw <16 x i32> %1055, splat (i32 -127)
  %1057 = icmp eq <16 x i32> %1054, zeroinitializer
  %1058 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1056, <16 x i32> %1014)
  %1059 = select <16 x i1> %1057, <16 x i32> splat (i32 -2000), <16 x i32> %1058
  %1060 = getelementptr inbounds nuw float, ptr %1052, i64 %1015
  %1061 = load <16 x i32>, ptr %1060, align 4
  %1062 = shl <16 x i32> %1061, splat (i32 1)
  %1063 = lshr <16 x i32> %1062, splat (i32 24)
  %1064 = add nsw <16 x i32> %1063, splat (i32 -127)
  %1065 = icmp eq <16 x i32> %1062, zeroinitializer
  %1066 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1064, <16 x i32> %1014)
  %1067 = select <16 x i1> %1065, <16 x i32> splat (i32 -2000), <16 x i32> %1066
  br i1 %1017, label %1077, label %1068
1068:
  %1069 = add nsw <16 x i32> %1059, splat (i32 -51)
  %1070 = icmp ult <16 x i32> %1069, splat (i32 -101)
  %1071 = icmp ne <16 x i32> %1059, splat (i32 -2000)
  %1072 = and <16 x i1> %1071, %1070
  %1073 = add nsw <16 x i32> %1067, splat (i32 -51)
  %1074 = icmp ult <16 x i32> %1073, splat (i32 -101)
  %1075 = icmp ne <16 x i32> %1067, splat (i32 -2000)
  %1076 = and <16 x i1> %1075, %1074
  br label %1080
1077:
  %1078 = icmp eq <16 x i32> %1059, splat (i32 128)
  %1079 = icmp eq <16 x i32> %1067, splat (i32 128)
  br label %1080
1080:
  %1081 = phi <16 x i1> [ %1072, %1068 ], [ %1078, %1077 ]
  %1082 = phi <16 x i1> [ %1076, %1068 ], [ %1079, %1077 ]
  %1083 = or <16 x i1> %1081, %1082
  %1084 = select <16 x i1> %1083, <16 x i32> splat (i32 -1), <16 x i32> %1044
  %1085 = and <16 x i32> %1059, splat (i32 65535)
  %1086 = shl <16 x i32> %1067, splat (i32 16)
  %1087 = or disjoint <16 x i32> %1086, %1085
  %1088 = getelementptr inbounds nuw i32, ptr %21, i64 %1043
  store <16 x i32> %1087, ptr %1088, align 16
  %1089 = add nuw nsw i64 %1043, 16
  %1090 = icmp samesign ult i64 %1089, %1018
  br i1 %1090, label %1042, label %1137
1091:
  %1092 = phi <16 x i32> [ %1131, %1129 ], [ zeroinitializer, %949 ]
  %1093 = phi i32 [ %1134, %1129 ], [ 0, %949 ]
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %15)
  %1094 = zext i32 %1093 to i64
  %1095 = getelementptr inbounds nuw i32, ptr %943, i64 %1094
  %1096 = load <16 x i32>, ptr %1095, align 4
  store <16 x i32> %1096, ptr %15, align 4
  %1097 = load i32, ptr %777, align 4
  switch i32 %1097, label %1108 [
    i32 16, label %1098
    i32 8, label %1102
  ]
1098:
  %1099 = getelementptr inbounds nuw i16, ptr %943, i64 %1094
  %1100 = load <16 x i16>, ptr %1099, align 2
  %1101 = zext <16 x i16> %1100 to <16 x i32>
  br label %1106
1102:
  %1103 = getelementptr inbounds nuw i8, ptr %943, i64 %1094
  %1104 = load <16 x i8>, ptr %1103, align 1
  %1105 = zext <16 x i8> %1104 to <16 x i32>
  br label %1106
1106:
  %1107 = phi <16 x i32> [ %1105, %1102 ], [ %1101, %1098 ]
  store <16 x i32> %1107, ptr %15, align 4
  br label %1108
1108:
  %1109 = getelementptr inbounds nuw float, ptr %19, i64 %1094
  call void %8(ptr nonnull %15, ptr nonnull %1109)
  %1110 = load <16 x i32>, ptr %1109, align 16
  %1111 = load i32, ptr %933, align 4
  %1112 = shl <16 x i32> %1110, splat (i32 1)
  %1113 = lshr <16 x i32> %1112, splat (i32 24)
  %1114 = add nsw <16 x i32> %1113, splat (i32 -127)
  %1115 = icmp eq <16 x i32> %1112, zeroinitializer
  %1116 = insertelement <16 x i32> poison, i32 %1111, i64 0
  %1117 = shufflevector <16 x i32> %1116, <16 x i32> poison, <16 x i32> zeroinitializer
  %1118 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1114, <16 x i32> %1117)
  %1119 = select <16 x i1> %1115, <16 x i32> splat (i32 -2000), <16 x i32> %1118
  %1120 = load i32, ptr %934, align 4
  %1121 = icmp eq i32 %1120, 0
  br i1 %1121, label %1127, label %1122
1122:
  %1123 = add nsw <16 x i32> %1119, splat (i32 -51)
  %1124 = icmp ult <16 x i32> %1123, splat (i32 -101)
  %1125 = icmp ne <16 x i32> %1119, splat (i32 -2000)
  %1126 = and <16 x i1> %1125, %1124
  br label %1129
1127:
  %1128 = icmp eq <16 x i32> %1119, splat (i32 128)
  br label %1129
1129:
  %1130 = phi <16 x i1> [ %1126, %1122 ], [ %1128, %1127 ]
  %1131 = select <16 x i1> %1130, <16 x i32> splat (i32 -1), <16 x i32> %1092
  %1132 = trunc <16 x i32> %1119 to <16 x i16>
  %1133 = getelementptr inbounds nuw i16, ptr %21, i64 %1094
  store <16 x i16> %1132, ptr %1133, align 16
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %15)
  %1134 = add i32 %1093, 16
  %1135 = load i32, ptr %780, align 4
  %1136 = icmp ult i32 %1134, %1135
  br i1 %1136, label %1091, label %1137
1137:
  %1138 = phi <16 x i32> [ zeroinitializer, %949 ], [ zeroinitializer, %1007 ], [ %1131, %1129 ], [ %1084, %1080 ]
  %1139 = or <16 x i32> %1138, %878
  br i1 %931, label %1140, label %1145
1140:
  %1141 = phi <16 x i32> [ %1139, %1137 ], [ %1340, %1338 ]
  %1142 = call i32 @llvm.vector.reduce.or.v16i32(<16 x i32> %1141)
  %1143 = icmp eq i32 %1142, 0
  %1144 = load i32, ptr %935, align 4
  br i1 %1143, label %1347, label %1343, !prof !{!"branch_weights", !"expected", i32 2000, i32 1}
1145:
  %1146 = phi i32 [ %1341, %1338 ], [ 0, %1137 ]
  %1147 = phi <16 x i32> [ %1340, %1338 ], [ %1139, %1137 ]
  %1148 = zext i32 %1146 to i64
  %1149 = getelementptr inbounds nuw float, ptr %945, i64 %1148
  %1150 = load i32, ptr %879, align 4
  %1151 = icmp eq i32 %1150, 0
  %1152 = select i1 %1151, i32 0, i32 %1146
  %1153 = load i32, ptr %935, align 4
  %1154 = icmp eq i32 %1153, 0
  br i1 %1154, label %1155, label %1158
1155:
  %1156 = getelementptr inbounds nuw float, ptr %944, i64 %1148
  %1157 = load <16 x float>, ptr %1156, align 4
  br label %1158
1158:
  %1159 = phi <16 x float> [ %1157, %1155 ], [ zeroinitializer, %1145 ]
  store <16 x float> %1159, ptr %1149, align 4
  %1160 = getelementptr inbounds nuw float, ptr %18, i64 %1148
  %1161 = getelementptr inbounds nuw i32, ptr %20, i64 %1148
  %1162 = zext i32 %1152 to i64
  %1163 = getelementptr inbounds nuw float, ptr %19, i64 %1162
  %1164 = getelementptr inbounds nuw i32, ptr %21, i64 %1162
  %1165 = load i32, ptr %1, align 4
  %1166 = load i32, ptr %936, align 4
  %1167 = icmp sgt i32 %1166, 16
  %1168 = load i32, ptr %937, align 4
  %1169 = call i32 @llvm.umin.i32(i32 %1168, i32 8)
  %1170 = select i1 %1167, i32 %1169, i32 %1168
  %1171 = load i32, ptr %780, align 4
  %1172 = icmp eq i32 %1171, 0
  br i1 %1172, label %1338, label %1173
1173:
  %1174 = load i32, ptr %879, align 4
  %1175 = icmp eq i32 %1174, 0
  br label %1176
1176:
  %1177 = phi i32 [ 0, %1173 ], [ %1335, %1332 ]
  %1178 = phi i32 [ %1168, %1173 ], [ %1334, %1332 ]
  %1179 = phi ptr [ %938, %1173 ], [ %940, %1332 ]
  %1180 = phi <16 x i32> [ zeroinitializer, %1173 ], [ %1198, %1332 ]
  %1181 = phi i32 [ 0, %1173 ], [ %1333, %1332 ]
  %1182 = load i32, ptr %1179, align 4
  %1183 = load <16 x i32>, ptr %1149, align 4
  %1184 = shl <16 x i32> %1183, splat (i32 1)
  %1185 = lshr <16 x i32> %1184, splat (i32 24)
  %1186 = add nsw <16 x i32> %1185, splat (i32 -127)
  %1187 = icmp eq <16 x i32> %1184, zeroinitializer
  %1188 = insertelement <16 x i32> poison, i32 %1182, i64 0
  %1189 = shufflevector <16 x i32> %1188, <16 x i32> poison, <16 x i32> zeroinitializer
  %1190 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1186, <16 x i32> %1189)
  %1191 = select <16 x i1> %1187, <16 x i32> splat (i32 -2000), <16 x i32> %1190
  %1192 = add nsw <16 x i32> %1191, splat (i32 -101)
  %1193 = icmp ult <16 x i32> %1192, splat (i32 -201)
  %1194 = icmp ne <16 x i32> %1191, splat (i32 -2000)
  %1195 = and <16 x i1> %1194, %1193
  %1196 = icmp eq <16 x i32> %1183, splat (i32 -2147483648)
  %1197 = select <16 x i1> %1196, <16 x i1> splat (i1 true), <16 x i1> %1195
  %1198 = select <16 x i1> %1197, <16 x i32> splat (i32 -1), <16 x i32> %1180
  %1199 = icmp eq i32 %1178, 0
  %1200 = bitcast <16 x i32> %1183 to <16 x float>
  br i1 %1199, label %1206, label %1201
1201:
  %1202 = load i32, ptr %935, align 4
  %1203 = icmp eq i32 %1202, 0
  br label %1227
1204:
  %1205 = bitcast <32 x i16> %1252 to <16 x i32>
  br label %1206
1206:
  %1207 = phi <16 x i32> [ splat (i32 -6553701), %1176 ], [ %1205, %1204 ]
  %1208 = shl <16 x i32> %1207, splat (i32 16)
  %1209 = ashr exact <16 x i32> %1208, splat (i32 16)
  %1210 = ashr <16 x i32> %1207, splat (i32 16)
  %1211 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1209, <16 x i32> %1210)
  %1212 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1211, <16 x i32> %1191)
  %1213 = load i32, ptr %936, align 4
  %1214 = insertelement <16 x i32> poison, i32 %1213, i64 0
  %1215 = shufflevector <16 x i32> %1214, <16 x i32> poison, <16 x i32> zeroinitializer
  %1216 = sub <16 x i32> %1215, %1212
  %1217 = shl <16 x i32> %1216, splat (i32 23)
  %1218 = add <16 x i32> %1217, splat (i32 1065353216)
  %1219 = bitcast <16 x i32> %1218 to <16 x float>
  %1220 = sub <16 x i32> %1212, %1215
  %1221 = shl <16 x i32> %1220, splat (i32 23)
  %1222 = add <16 x i32> %1221, splat (i32 1065353216)
  %1223 = bitcast <16 x i32> %1222 to <16 x float>
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %14)
  br i1 %1199, label %1267, label %1224
1224:
  %1225 = fmul <16 x float> %1200, %1219
  %1226 = fptosi <16 x float> %1225 to <16 x i32>
  br label %1255
1227:
  %1228 = phi <32 x i16> [ splat (i16 -101), %1201 ], [ %1252, %1246 ]
  %1229 = phi i32 [ 0, %1201 ], [ %1253, %1246 ]
  %1230 = add i32 %1229, %1181
  %1231 = shl i32 %1230, 1
  %1232 = add i32 %1229, %1177
  %1233 = select i1 %1203, i32 %1232, i32 %1231
  %1234 = lshr i32 %1233, 1
  %1235 = mul i32 %1234, %1165
  %1236 = zext i32 %1235 to i64
  br i1 %1175, label %1240, label %1237
1237:
  %1238 = getelementptr inbounds nuw i32, ptr %1164, i64 %1236
  %1239 = load <16 x i32>, ptr %1238, align 4
  br label %1246
1240:
  %1241 = zext nneg i32 %1234 to i64
  %1242 = getelementptr inbounds nuw i32, ptr %1164, i64 %1241
  %1243 = load i32, ptr %1242, align 4
  %1244 = insertelement <16 x i32> poison, i32 %1243, i64 0
  %1245 = shufflevector <16 x i32> %1244, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %1246
1246:
  %1247 = phi <16 x i32> [ %1239, %1237 ], [ %1245, %1240 ]
  %1248 = getelementptr inbounds nuw i32, ptr %1161, i64 %1236
  %1249 = load <32 x i16>, ptr %1248, align 4
  %1250 = bitcast <16 x i32> %1247 to <32 x i16>
  %1251 = add <32 x i16> %1249, %1250
  %1252 = call <32 x i16> @llvm.smax.v32i16(<32 x i16> %1228, <32 x i16> %1251)
  %1253 = add nuw i32 %1229, 2
  %1254 = icmp ult i32 %1253, %1178
  br i1 %1254, label %1227, label %1204
1255:
  %1256 = phi i32 [ %1170, %1224 ], [ %1279, %1272 ]
  %1257 = phi i32 [ 0, %1224 ], [ %1260, %1272 ]
  %1258 = phi <16 x i32> [ %1226, %1224 ], [ zeroinitializer, %1272 ]
  %1259 = phi <16 x double> [ undef, %1224 ], [ %1277, %1272 ]
  %1260 = add i32 %1257, %1170
  %1261 = icmp ult i32 %1257, %1260
  br i1 %1261, label %1262, label %1272
1262:
  %1263 = load i32, ptr %935, align 4
  %1264 = icmp eq i32 %1263, 0
  br label %1280
1265:
  %1266 = bitcast <16 x double> %1277 to <16 x i64>
  br label %1267
1267:
  %1268 = phi <16 x i64> [ %1266, %1265 ], [ undef, %1206 ]
  %1269 = phi <16 x double> [ %1277, %1265 ], [ undef, %1206 ]
  %1270 = load i32, ptr %939, align 4
  %1271 = icmp eq i32 %1270, 0
  br i1 %1271, label %1320, label %1317
1272:
  %1273 = phi <16 x i32> [ %1258, %1255 ], [ %1314, %1306 ]
  %1274 = sitofp <16 x i32> %1273 to <16 x double>
  %1275 = icmp eq i32 %1257, 0
  %1276 = select i1 %1275, <16 x double> splat (double -0.000000e+00), <16 x double> %1259
  %1277 = fadd <16 x double> %1276, %1274
  %1278 = icmp ult i32 %1260, %1178
  %1279 = add i32 %1256, %1170
  br i1 %1278, label %1255, label %1265
1280:
  %1281 = phi i32 [ %1257, %1262 ], [ %1315, %1306 ]
  %1282 = phi <16 x i32> [ %1258, %1262 ], [ %1314, %1306 ]
  br i1 %1264, label %1289, label %1283
1283:
  %1284 = and i32 %1281, 2147483646
  %1285 = add i32 %1284, %1181
  %1286 = shl i32 %1285, 1
  %1287 = and i32 %1281, 1
  %1288 = or disjoint i32 %1286, %1287
  br label %1291
1289:
  %1290 = add i32 %1281, %1177
  br label %1291
1291:
  %1292 = phi i32 [ %1288, %1283 ], [ %1290, %1289 ]
  br i1 %1175, label %1298, label %1293
1293:
  %1294 = mul i32 %1292, %1165
  %1295 = zext i32 %1294 to i64
  %1296 = getelementptr inbounds nuw float, ptr %1163, i64 %1295
  %1297 = load <16 x float>, ptr %1296, align 4
  br label %1306
1298:
  %1299 = zext i32 %1292 to i64
  %1300 = getelementptr inbounds nuw float, ptr %1163, i64 %1299
  %1301 = load float, ptr %1300, align 4
  %1302 = insertelement <16 x float> poison, float %1301, i64 0
  %1303 = shufflevector <16 x float> %1302, <16 x float> poison, <16 x i32> zeroinitializer
  %1304 = mul i32 %1292, %1165
  %1305 = zext i32 %1304 to i64
  br label %1306
1306:
  %1307 = phi i64 [ %1305, %1298 ], [ %1295, %1293 ]
  %1308 = phi <16 x float> [ %1303, %1298 ], [ %1297, %1293 ]
  %1309 = getelementptr inbounds nuw float, ptr %1160, i64 %1307
  %1310 = load <16 x float>, ptr %1309, align 4
  %1311 = fmul <16 x float> %1308, %1310
  %1312 = fmul <16 x float> %1311, %1219
  %1313 = fptosi <16 x float> %1312 to <16 x i32>
  %1314 = add <16 x i32> %1282, %1313
  %1315 = add nuw i32 %1281, 1
  %1316 = icmp eq i32 %1315, %1256
  br i1 %1316, label %1272, label %1280
1317:
  %1318 = fpext <16 x float> %1223 to <16 x double>
  %1319 = fmul <16 x double> %1269, %1318
  store <16 x double> %1319, ptr %14, align 8
  call void %9(ptr nonnull %14, ptr nonnull %1149)
  br label %1332
1320:
  %1321 = icmp slt i32 %1213, 23
  %1322 = sub nsw i32 52, %1213
  %1323 = zext nneg i32 %1322 to i64
  %1324 = shl nsw i64 -1, %1323
  %1325 = select i1 %1321, i64 %1324, i64 -536870912
  %1326 = insertelement <16 x i64> poison, i64 %1325, i64 0
  %1327 = shufflevector <16 x i64> %1326, <16 x i64> poison, <16 x i32> zeroinitializer
  %1328 = and <16 x i64> %1268, %1327
  %1329 = bitcast <16 x i64> %1328 to <16 x double>
  %1330 = fptrunc <16 x double> %1329 to <16 x float>
  %1331 = fmul <16 x float> %1223, %1330
  store <16 x float> %1331, ptr %1149, align 4
  br label %1332
1332:
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %14)
  %1333 = add i32 %1181, 1
  %1334 = load i32, ptr %937, align 4
  %1335 = mul i32 %1334, %1333
  %1336 = load i32, ptr %780, align 4
  %1337 = icmp ult i32 %1335, %1336
  br i1 %1337, label %1176, label %1338
1338:
  %1339 = phi <16 x i32> [ zeroinitializer, %1158 ], [ %1198, %1332 ]
  %1340 = or <16 x i32> %1339, %1147
  %1341 = add i32 %1146, 16
  %1342 = icmp ult i32 %1341, %309
  br i1 %1342, label %1145, label %1140
1343:
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %24)
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(128) %24, i8 0, i64 128, i1 false)
  %1344 = icmp eq i32 %1144, 0
  %1345 = select i1 %1344, ptr %944, ptr %24
  call void %11(ptr nonnull %18, ptr nonnull %19, ptr %1345, ptr %945)
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %24)
  %1346 = load i32, ptr %935, align 4
  br label %1347
1347:
  %1348 = phi i32 [ %1346, %1343 ], [ %1144, %1140 ]
  %1349 = icmp ne i32 %1348, 0
  %1350 = and i1 %1349, %941
  br i1 %1350, label %1360, label %1351
1351:
  %1352 = add nuw i32 %946, 1
  %1353 = load i32, ptr %119, align 4
  %1354 = zext i32 %1353 to i64
  %1355 = getelementptr inbounds nuw i32, ptr %943, i64 %1354
  %1356 = getelementptr inbounds nuw float, ptr %944, i64 %932
  %1357 = getelementptr inbounds nuw float, ptr %945, i64 %932
  %1358 = load i32, ptr %123, align 4
  %1359 = icmp ult i32 %1352, %1358
  br i1 %1359, label %942, label %1370
1360:
  %1361 = phi i32 [ %1365, %1360 ], [ 0, %1347 ]
  %1362 = zext i32 %1361 to i64
  %1363 = getelementptr inbounds nuw float, ptr %945, i64 %1362
  %1364 = getelementptr inbounds nuw float, ptr %944, i64 %1362
  call void %10(ptr %1363, ptr %1364)
  %1365 = add i32 %1361, 16
  %1366 = load i32, ptr %935, align 4
  %1367 = icmp ne i32 %1366, 0
  %1368 = icmp ult i32 %1365, %309
  %1369 = and i1 %1367, %1368
  br i1 %1369, label %1360, label %1351
1370:
  %1371 = phi i32 [ 0, %927 ], [ %1358, %1351 ]
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %23)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %22)
  call void @llvm.lifetime.end.p0(i64 1024, ptr nonnull %21)
  call void @llvm.lifetime.end.p0(i64 1024, ptr nonnull %20)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %19)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %18)
  br label %1374
1372:
  %1373 = load i32, ptr %123, align 4
  br label %1374
1374:
  %1375 = phi i32 [ %1373, %1372 ], [ 0, %319 ], [ 0, %377 ], [ %773, %772 ], [ %1371, %1370 ], [ %335, %334 ]
  %1376 = lshr i32 %1375, 3
  %1377 = load i32, ptr %1, align 4
  %1378 = lshr i32 %1377, 3
  %1379 = mul i32 %1378, %1376
  %1380 = icmp eq i32 %1379, 0
  br i1 %1380, label %1532, label %1381
1381:
  %1382 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %1383 = getelementptr inbounds nuw i8, ptr %1, i64 144
  br label %1384
1384:
  %1385 = phi i32 [ %1377, %1381 ], [ %1527, %1526 ]
  %1386 = phi i32 [ 0, %1381 ], [ %1528, %1526 ]
  %1387 = icmp ugt i32 %1385, 8
  %1388 = zext i1 %1387 to i32
  %1389 = shl nuw nsw i32 %1376, %1388
  %1390 = udiv i32 %1386, %1389
  %1391 = shl i32 %1390, %1388
  %1392 = and i32 %1386, 1
  %1393 = select i1 %1387, i32 %1392, i32 0
  %1394 = add i32 %1391, %1393
  %1395 = shl i32 %1394, 3
  %1396 = lshr i32 %1386, %1388
  %1397 = urem i32 %1396, %1376
  %1398 = shl i32 %1385, 3
  %1399 = mul i32 %1398, %1397
  %1400 = add i32 %1399, %1395
  %1401 = shl i32 %1385, 1
  %1402 = zext i32 %1400 to i64
  %1403 = getelementptr inbounds nuw i32, ptr %5, i64 %1402
  %1404 = load i32, ptr %1382, align 4
  %1405 = icmp eq i32 %1404, 0
  br i1 %1405, label %1406, label %1413
1406:
  %1407 = shl i32 %1386, 1
  %1408 = zext i32 %1401 to i64
  %1409 = shl i32 %1385, 2
  %1410 = zext i32 %1409 to i64
  %1411 = mul i32 %1385, 6
  %1412 = zext i32 %1411 to i64
  br label %1477
1413:
  %1414 = load <8 x float>, ptr %1403, align 4
  %1415 = fptrunc <8 x float> %1414 to <8 x half>
  %1416 = bitcast <8 x half> %1415 to <8 x i16>
  %1417 = zext <8 x i16> %1416 to <8 x i32>
  %1418 = zext i32 %1385 to i64
  %1419 = getelementptr inbounds nuw i32, ptr %1403, i64 %1418
  %1420 = load <8 x float>, ptr %1419, align 4
  %1421 = fptrunc <8 x float> %1420 to <8 x half>
  %1422 = bitcast <8 x half> %1421 to <8 x i16>
  %1423 = zext <8 x i16> %1422 to <8 x i32>
  %1424 = shl nuw <8 x i32> %1423, splat (i32 16)
  %1425 = or disjoint <8 x i32> %1424, %1417
  %1426 = zext i32 %1401 to i64
  %1427 = getelementptr inbounds nuw i32, ptr %1403, i64 %1426
  %1428 = load <8 x float>, ptr %1427, align 4
  %1429 = fptrunc <8 x float> %1428 to <8 x half>
  %1430 = bitcast <8 x half> %1429 to <8 x i16>
  %1431 = zext <8 x i16> %1430 to <8 x i32>
  %1432 = getelementptr inbounds nuw i32, ptr %1419, i64 %1426
  %1433 = load <8 x float>, ptr %1432, align 4
  %1434 = fptrunc <8 x float> %1433 to <8 x half>
  %1435 = bitcast <8 x half> %1434 to <8 x i16>
  %1436 = zext <8 x i16> %1435 to <8 x i32>
  %1437 = shl nuw <8 x i32> %1436, splat (i32 16)
  %1438 = or disjoint <8 x i32> %1437, %1431
  %1439 = shufflevector <8 x i32> %1425, <8 x i32> %1438, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1440 = shl i32 %1385, 2
  %1441 = zext i32 %1440 to i64
  %1442 = getelementptr inbounds nuw i32, ptr %1403, i64 %1441
  %1443 = load <8 x float>, ptr %1442, align 4
  %1444 = fptrunc <8 x float> %1443 to <8 x half>
  %1445 = bitcast <8 x half> %1444 to <8 x i16>
  %1446 = zext <8 x i16> %1445 to <8 x i32>
  %1447 = getelementptr inbounds nuw i32, ptr %1419, i64 %1441
  %1448 = load <8 x float>, ptr %1447, align 4
  %1449 = fptrunc <8 x float> %1448 to <8 x half>
  %1450 = bitcast <8 x half> %1449 to <8 x i16>
  %1451 = zext <8 x i16> %1450 to <8 x i32>
  %1452 = shl nuw <8 x i32> %1451, splat (i32 16)
  %1453 = or disjoint <8 x i32> %1452, %1446
  %1454 = mul i32 %1385, 6
  %1455 = zext i32 %1454 to i64
  %1456 = getelementptr inbounds nuw i32, ptr %1403, i64 %1455
  %1457 = load <8 x float>, ptr %1456, align 4
  %1458 = fptrunc <8 x float> %1457 to <8 x half>
  %1459 = bitcast <8 x half> %1458 to <8 x i16>
  %1460 = zext <8 x i16> %1459 to <8 x i32>
  %1461 = getelementptr inbounds nuw i32, ptr %1419, i64 %1455
  %1462 = load <8 x float>, ptr %1461, align 4
  %1463 = fptrunc <8 x float> %1462 to <8 x half>
  %1464 = bitcast <8 x half> %1463 to <8 x i16>
  %1465 = zext <8 x i16> %1464 to <8 x i32>
  %1466 = shl nuw <8 x i32> %1465, splat (i32 16)
  %1467 = or disjoint <8 x i32> %1466, %1460
  %1468 = shufflevector <8 x i32> %1453, <8 x i32> %1467, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1469 = shufflevector <16 x i32> %1439, <16 x i32> %1468, <32 x i32> <i32 0, i32 1, i32 16, i32 17, i32 2, i32 3, i32 18, i32 19, i32 4, i32 5, i32 20, i32 21, i32 6, i32 7, i32 22, i32 23, i32 8, i32 9, i32 24, i32 25, i32 10, i32 11, i32 26, i32 27, i32 12, i32 13, i32 28, i32 29, i32 14, i32 15, i32 30, i32 31>
  %1470 = load ptr, ptr %310, align 8
  %1471 = load i32, ptr %1383, align 4
  %1472 = add i32 %1471, %1386
  %1473 = shl i32 %1472, 9
  %1474 = zext i32 %1473 to i64
  %1475 = getelementptr inbounds nuw i8, ptr %1470, i64 %1474
  store <32 x i32> %1469, ptr %1475, align 4
  %1476 = load i32, ptr %1, align 4
  br label %1526
1477:
  %1478 = phi i1 [ true, %1406 ], [ false, %1521 ]
  %1479 = phi i32 [ 0, %1406 ], [ 1, %1521 ]
  %1480 = phi ptr [ %1403, %1406 ], [ %1524, %1521 ]
  %1481 = phi i32 [ %1400, %1406 ], [ %1525, %1521 ]
  %1482 = load i32, ptr %1383, align 4
  %1483 = or disjoint i32 %1479, %1407
  %1484 = add i32 %1483, %1482
  %1485 = load i32, ptr %122, align 4
  %1486 = icmp eq i32 %1485, 0
  br i1 %1486, label %1506, label %1487
1487:
  %1488 = shl i32 %1484, 9
  %1489 = zext i32 %1488 to i64
  br label %1490
1490:
  %1491 = phi i64 [ 0, %1487 ], [ %1504, %1490 ]
  %1492 = trunc nuw nsw i64 %1491 to i32
  %1493 = and i32 %1492, 3
  %1494 = mul i32 %1493, %1401
  %1495 = lshr i32 %1492, 2
  %1496 = add i32 %1495, %1481
  %1497 = add i32 %1496, %1494
  %1498 = zext i32 %1497 to i64
  %1499 = getelementptr inbounds nuw i64, ptr %5, i64 %1498
  %1500 = load i64, ptr %1499, align 8
  %1501 = load ptr, ptr %310, align 8
  %1502 = getelementptr inbounds nuw i8, ptr %1501, i64 %1489
  %1503 = getelementptr inbounds nuw i64, ptr %1502, i64 %1491
  store i64 %1500, ptr %1503, align 8
  %1504 = add nuw nsw i64 %1491, 1
  %1505 = icmp eq i64 %1504, 32
  br i1 %1505, label %1521, label %1490
1506:
  %1507 = getelementptr inbounds nuw i32, ptr %1480, i64 %1408
  %1508 = getelementptr inbounds nuw i32, ptr %1480, i64 %1410
  %1509 = getelementptr inbounds nuw i32, ptr %1480, i64 %1412
  %1510 = load <8 x i32>, ptr %1480, align 4
  %1511 = load <8 x i32>, ptr %1507, align 4
  %1512 = shufflevector <8 x i32> %1510, <8 x i32> %1511, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1513 = load <8 x i32>, ptr %1508, align 4
  %1514 = load <8 x i32>, ptr %1509, align 4
  %1515 = shufflevector <8 x i32> %1513, <8 x i32> %1514, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1516 = shufflevector <16 x i32> %1512, <16 x i32> %1515, <32 x i32> <i32 0, i32 1, i32 16, i32 17, i32 2, i32 3, i32 18, i32 19, i32 4, i32 5, i32 20, i32 21, i32 6, i32 7, i32 22, i32 23, i32 8, i32 9, i32 24, i32 25, i32 10, i32 11, i32 26, i32 27, i32 12, i32 13, i32 28, i32 29, i32 14, i32 15, i32 30, i32 31>
  %1517 = load ptr, ptr %310, align 8
  %1518 = shl i32 %1484, 9
  %1519 = zext i32 %1518 to i64
  %1520 = getelementptr inbounds nuw i8, ptr %1517, i64 %1519
  store <32 x i32> %1516, ptr %1520, align 4
  br label %1521
1521:
  %1522 = load i32, ptr %1, align 4
  %1523 = zext i32 %1522 to i64
  %1524 = getelementptr inbounds nuw i32, ptr %1480, i64 %1523
  %1525 = add i32 %1522, %1481
  br i1 %1478, label %1477, label %1526
1526:
  %1527 = phi i32 [ %1476, %1413 ], [ %1522, %1521 ]
  %1528 = add nuw i32 %1386, 1
  %1529 = lshr i32 %1527, 3
  %1530 = mul i32 %1529, %1376
  %1531 = icmp ult i32 %1528, %1530
  br i1 %1531, label %1384, label %1532
1532:
  ret void
}

define internal range(i32 0, 2) i32 @multiply_group(ptr %0, i32 %1, i32 %2, ptr %3, ptr %4, ptr %5, ptr %6, ptr %7, ptr %8, ptr %9, ptr %10, ptr %11, ptr %12, ptr %13, ptr %14) noinline #0 {
  %16 = alloca <16 x double>, align 8
  %17 = alloca <16 x i32>, align 4
  %18 = alloca <16 x i32>, align 4
  %19 = alloca <16 x i32>, align 4
  %20 = alloca [512 x float], align 16
  %21 = alloca [512 x float], align 16
  %22 = alloca [256 x i32], align 16
  %23 = alloca [256 x i32], align 16
  %24 = alloca [512 x i32], align 16
  %25 = alloca [512 x i32], align 16
  %26 = alloca [32 x float], align 16
  %27 = alloca [512 x i32], align 16
  %28 = alloca [512 x i32], align 16
  %29 = alloca [512 x i32], align 16
  %30 = alloca [512 x i32], align 16
  %31 = alloca <8 x double>, align 8
  %32 = getelementptr inbounds nuw i8, ptr %3, i64 20
  %33 = load i32, ptr %32, align 4
  %34 = lshr i32 %33, 2
  %35 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %36 = load ptr, ptr %35, align 8
  %37 = getelementptr inbounds nuw i8, ptr %3, i64 140
  %38 = load i32, ptr %37, align 4
  %39 = shl i32 %38, 9
  %40 = zext i32 %39 to i64
  %41 = getelementptr inbounds nuw i8, ptr %36, i64 %40
  %42 = tail call i32 @is_whole_group(ptr %0, i32 %1, i32 %2)
  %43 = tail call i32 @are_equal(ptr %41, i64 1)
  %44 = and i32 %43, %42
  %45 = getelementptr inbounds nuw i8, ptr %3, i64 80
  %46 = load i32, ptr %45, align 4
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %135, label %48
48:
  %49 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %50 = load i32, ptr %49, align 4
  %51 = lshr i32 %50, 2
  %52 = load i32, ptr %3, align 4
  %53 = lshr i32 %52, 3
  %54 = mul i32 %53, %51
  %55 = icmp eq i32 %54, 0
  br i1 %55, label %142, label %56
56:
  %57 = getelementptr inbounds nuw i8, ptr %3, i64 28
  %58 = getelementptr inbounds nuw i8, ptr %3, i64 124
  br label %59
59:
  %60 = phi i32 [ %52, %56 ], [ %131, %129 ]
  %61 = phi i32 [ 0, %56 ], [ %130, %129 ]
  %62 = icmp ugt i32 %60, 8
  %63 = zext i1 %62 to i32
  %64 = shl nuw nsw i32 %51, %63
  %65 = udiv i32 %61, %64
  %66 = shl i32 %65, %63
  %67 = and i32 %61, 1
  %68 = select i1 %62, i32 %67, i32 0
  %69 = add i32 %66, %68
  %70 = shl i32 %69, 3
  %71 = lshr i32 %61, %63
  %72 = urem i32 %71, %51
  %73 = shl nuw i32 %72, 2
  %74 = load i32, ptr %57, align 4
  %75 = icmp eq i32 %74, 0
  br i1 %75, label %101, label %76
76:
  %77 = zext i32 %70 to i64
  %78 = getelementptr inbounds nuw i64, ptr %4, i64 %77
  br label %79
79:
  %80 = phi i64 [ 0, %76 ], [ %99, %79 ]
  %81 = trunc nuw nsw i64 %80 to i32
  %82 = and i32 %81, 3
  %83 = or disjoint i32 %82, %73
  %84 = load i32, ptr %3, align 4
  %85 = mul i32 %84, %83
  %86 = zext i32 %85 to i64
  %87 = getelementptr inbounds nuw i64, ptr %78, i64 %86
  %88 = lshr i64 %80, 2
  %89 = and i64 %88, 1073741823
  %90 = getelementptr inbounds nuw i64, ptr %87, i64 %89
  %91 = load ptr, ptr %35, align 8
  %92 = load i32, ptr %58, align 4
  %93 = add i32 %92, %61
  %94 = shl i32 %93, 9
  %95 = zext i32 %94 to i64
  %96 = getelementptr inbounds nuw i8, ptr %91, i64 %95
  %97 = getelementptr inbounds nuw i64, ptr %96, i64 %80
  %98 = load i64, ptr %97, align 8
  store i64 %98, ptr %90, align 8
  %99 = add nuw nsw i64 %80, 1
  %100 = icmp eq i64 %99, 32
  br i1 %100, label %129, label %79
101:
  %102 = load ptr, ptr %35, align 8
  %103 = load i32, ptr %58, align 4
  %104 = add i32 %103, %61
  %105 = shl i32 %104, 9
  %106 = zext i32 %105 to i64
  %107 = getelementptr inbounds nuw i8, ptr %102, i64 %106
  %108 = load <32 x i32>, ptr %107, align 4
  %109 = mul i32 %73, %60
  %110 = zext i32 %109 to i64
  %111 = getelementptr inbounds nuw i32, ptr %4, i64 %110
  %112 = zext i32 %70 to i64
  %113 = getelementptr inbounds nuw i32, ptr %111, i64 %112
  %114 = shufflevector <32 x i32> %108, <32 x i32> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  store <8 x i32> %114, ptr %113, align 4
  %115 = shufflevector <32 x i32> %108, <32 x i32> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %116 = load i32, ptr %3, align 4
  %117 = zext i32 %116 to i64
  %118 = getelementptr inbounds nuw i32, ptr %113, i64 %117
  store <8 x i32> %115, ptr %118, align 4
  %119 = shufflevector <32 x i32> %108, <32 x i32> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %120 = load i32, ptr %3, align 4
  %121 = shl i32 %120, 1
  %122 = zext i32 %121 to i64
  %123 = getelementptr inbounds nuw i32, ptr %113, i64 %122
  store <8 x i32> %119, ptr %123, align 4
  %124 = shufflevector <32 x i32> %108, <32 x i32> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %125 = load i32, ptr %3, align 4
  %126 = mul i32 %125, 3
  %127 = zext i32 %126 to i64
  %128 = getelementptr inbounds nuw i32, ptr %113, i64 %127
  store <8 x i32> %124, ptr %128, align 4
  br label %129
129:
  %130 = add nuw i32 %61, 1
  %131 = load i32, ptr %3, align 4
  %132 = lshr i32 %131, 3
  %133 = mul i32 %132, %51
  %134 = icmp ult i32 %130, %133
  br i1 %134, label %59, label %142
135:
  %136 = getelementptr inbounds nuw i8, ptr %3, i64 124
  %137 = load i32, ptr %136, align 4
  %138 = getelementptr inbounds nuw i8, ptr %3, i64 84
  %139 = load i32, ptr %138, align 4
  %140 = tail call i32 @read_left(ptr nonnull %0, i32 %137, i32 %1, i32 %139, ptr %4)
  %141 = and i32 %140, %44
  br label %142
142:
  %143 = phi i32 [ %141, %135 ], [ %44, %48 ], [ %44, %129 ]
  %144 = getelementptr inbounds nuw i8, ptr %3, i64 128
  %145 = load i32, ptr %144, align 4
  %146 = getelementptr inbounds nuw i8, ptr %3, i64 4
  %147 = load i32, ptr %146, align 4
  %148 = zext i32 %147 to i64
  %149 = zext nneg i32 %34 to i64
  %150 = getelementptr inbounds nuw i8, ptr %3, i64 88
  %151 = load i32, ptr %150, align 4
  %152 = tail call i32 @read_right(ptr nonnull %0, i32 %145, i32 %1, i64 %148, i64 %149, i32 %151, ptr %5)
  %153 = and i32 %152, %143
  %154 = icmp eq i32 %153, 0
  br i1 %154, label %1534, label %155
155:
  %156 = load i8, ptr %41, align 1
  %157 = icmp eq i8 %156, 0
  br i1 %157, label %297, label %158
158:
  %159 = load i32, ptr %146, align 4
  %160 = lshr i32 %159, 3
  %161 = load i32, ptr %3, align 4
  %162 = lshr i32 %161, 3
  %163 = mul i32 %162, %160
  %164 = icmp eq i32 %163, 0
  br i1 %164, label %303, label %165
165:
  %166 = getelementptr inbounds nuw i8, ptr %3, i64 132
  %167 = getelementptr inbounds nuw i8, ptr %3, i64 52
  %168 = getelementptr inbounds nuw i8, ptr %3, i64 28
  br label %169
169:
  %170 = phi i32 [ %161, %165 ], [ %187, %185 ]
  %171 = phi i32 [ 0, %165 ], [ %186, %185 ]
  %172 = icmp ugt i32 %170, 8
  %173 = zext i1 %172 to i32
  %174 = shl nuw nsw i32 %160, %173
  %175 = udiv i32 %171, %174
  %176 = shl i32 %175, %173
  %177 = and i32 %171, 1
  %178 = select i1 %172, i32 %177, i32 0
  %179 = add i32 %176, %178
  %180 = shl i32 %179, 3
  %181 = lshr i32 %171, %173
  %182 = urem i32 %181, %160
  %183 = shl nuw i32 %182, 3
  %184 = shl i32 %171, 1
  br label %191
185:
  %186 = add nuw i32 %171, 1
  %187 = load i32, ptr %3, align 4
  %188 = lshr i32 %187, 3
  %189 = mul i32 %188, %160
  %190 = icmp ult i32 %186, %189
  br i1 %190, label %169, label %303
191:
  %192 = phi i1 [ true, %169 ], [ false, %296 ]
  %193 = phi i32 [ 0, %169 ], [ 1, %296 ]
  %194 = load i32, ptr %166, align 4
  %195 = load i32, ptr %167, align 4
  %196 = icmp eq i32 %195, 0
  %197 = or disjoint i32 %193, %184
  %198 = select i1 %196, i32 %197, i32 %171
  %199 = add i32 %198, %194
  %200 = or disjoint i32 %193, %183
  %201 = load i32, ptr %3, align 4
  %202 = mul i32 %201, %200
  %203 = add i32 %202, %180
  %204 = shl i32 %201, 1
  %205 = load i32, ptr %168, align 4
  %206 = icmp eq i32 %205, 0
  br i1 %206, label %226, label %207
207:
  %208 = shl i32 %199, 9
  %209 = zext i32 %208 to i64
  br label %210
210:
  %211 = phi i64 [ 0, %207 ], [ %224, %210 ]
  %212 = load ptr, ptr %35, align 8
  %213 = getelementptr inbounds nuw i8, ptr %212, i64 %209
  %214 = getelementptr inbounds nuw i64, ptr %213, i64 %211
  %215 = load i64, ptr %214, align 8
  %216 = trunc nuw nsw i64 %211 to i32
  %217 = and i32 %216, 3
  %218 = mul i32 %217, %204
  %219 = lshr i32 %216, 2
  %220 = add i32 %219, %203
  %221 = add i32 %220, %218
  %222 = zext i32 %221 to i64
  %223 = getelementptr inbounds nuw i64, ptr %6, i64 %222
  store i64 %215, ptr %223, align 8
  %224 = add nuw nsw i64 %211, 1
  %225 = icmp eq i64 %224, 32
  br i1 %225, label %296, label %210
226:
  %227 = load ptr, ptr %35, align 8
  %228 = shl i32 %199, 9
  %229 = zext i32 %228 to i64
  %230 = getelementptr inbounds nuw i8, ptr %227, i64 %229
  %231 = load <32 x i32>, ptr %230, align 4
  %232 = shufflevector <32 x i32> %231, <32 x i32> poison, <8 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28>
  br i1 %196, label %242, label %233
233:
  %234 = shl nuw nsw i32 %193, 4
  %235 = insertelement <8 x i32> poison, i32 %234, i64 0
  %236 = shufflevector <8 x i32> %235, <8 x i32> poison, <8 x i32> zeroinitializer
  %237 = lshr <8 x i32> %232, %236
  %238 = trunc <8 x i32> %237 to <8 x i16>
  %239 = bitcast <8 x i16> %238 to <8 x half>
  %240 = fpext <8 x half> %239 to <8 x float>
  %241 = bitcast <8 x float> %240 to <8 x i32>
  br label %242
242:
  %243 = phi <8 x i32> [ %241, %233 ], [ %232, %226 ]
  %244 = zext i32 %203 to i64
  %245 = getelementptr inbounds nuw i32, ptr %6, i64 %244
  store <8 x i32> %243, ptr %245, align 4
  %246 = shufflevector <32 x i32> %231, <32 x i32> poison, <8 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29>
  %247 = load i32, ptr %167, align 4
  %248 = icmp eq i32 %247, 0
  br i1 %248, label %258, label %249
249:
  %250 = shl nuw nsw i32 %193, 4
  %251 = insertelement <8 x i32> poison, i32 %250, i64 0
  %252 = shufflevector <8 x i32> %251, <8 x i32> poison, <8 x i32> zeroinitializer
  %253 = lshr <8 x i32> %246, %252
  %254 = trunc <8 x i32> %253 to <8 x i16>
  %255 = bitcast <8 x i16> %254 to <8 x half>
  %256 = fpext <8 x half> %255 to <8 x float>
  %257 = bitcast <8 x float> %256 to <8 x i32>
  br label %258
258:
  %259 = phi <8 x i32> [ %257, %249 ], [ %246, %242 ]
  %260 = zext i32 %204 to i64
  %261 = getelementptr inbounds nuw i32, ptr %245, i64 %260
  store <8 x i32> %259, ptr %261, align 4
  %262 = shufflevector <32 x i32> %231, <32 x i32> poison, <8 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30>
  %263 = load i32, ptr %167, align 4
  %264 = icmp eq i32 %263, 0
  br i1 %264, label %274, label %265
265:
  %266 = shl nuw nsw i32 %193, 4
  %267 = insertelement <8 x i32> poison, i32 %266, i64 0
  %268 = shufflevector <8 x i32> %267, <8 x i32> poison, <8 x i32> zeroinitializer
  %269 = lshr <8 x i32> %262, %268
  %270 = trunc <8 x i32> %269 to <8 x i16>
  %271 = bitcast <8 x i16> %270 to <8 x half>
  %272 = fpext <8 x half> %271 to <8 x float>
  %273 = bitcast <8 x float> %272 to <8 x i32>
  br label %274
274:
  %275 = phi <8 x i32> [ %273, %265 ], [ %262, %258 ]
  %276 = shl i32 %201, 2
  %277 = zext i32 %276 to i64
  %278 = getelementptr inbounds nuw i32, ptr %245, i64 %277
  store <8 x i32> %275, ptr %278, align 4
  %279 = shufflevector <32 x i32> %231, <32 x i32> poison, <8 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31>
  %280 = load i32, ptr %167, align 4
  %281 = icmp eq i32 %280, 0
  br i1 %281, label %291, label %282
282:
  %283 = shl nuw nsw i32 %193, 4
  %284 = insertelement <8 x i32> poison, i32 %283, i64 0
  %285 = shufflevector <8 x i32> %284, <8 x i32> poison, <8 x i32> zeroinitializer
  %286 = lshr <8 x i32> %279, %285
  %287 = trunc <8 x i32> %286 to <8 x i16>
  %288 = bitcast <8 x i16> %287 to <8 x half>
  %289 = fpext <8 x half> %288 to <8 x float>
  %290 = bitcast <8 x float> %289 to <8 x i32>
  br label %291
291:
  %292 = phi <8 x i32> [ %290, %282 ], [ %279, %274 ]
  %293 = mul i32 %201, 6
  %294 = zext i32 %293 to i64
  %295 = getelementptr inbounds nuw i32, ptr %245, i64 %294
  store <8 x i32> %292, ptr %295, align 4
  br label %296
296:
  br i1 %192, label %191, label %185
297:
  %298 = load i32, ptr %3, align 4
  %299 = load i32, ptr %146, align 4
  %300 = shl i32 %298, 2
  %301 = mul i32 %300, %299
  %302 = zext i32 %301 to i64
  tail call void @llvm.memset.p0.i64(ptr align 1 %6, i8 0, i64 %302, i1 false)
  br label %303
303:
  %304 = load ptr, ptr %35, align 8
  %305 = getelementptr inbounds nuw i8, ptr %3, i64 136
  %306 = load i32, ptr %305, align 4
  %307 = shl i32 %306, 9
  %308 = zext i32 %307 to i64
  %309 = getelementptr inbounds nuw i8, ptr %304, i64 %308
  %310 = getelementptr inbounds nuw i8, ptr %3, i64 28
  %311 = load i32, ptr %310, align 4
  %312 = icmp eq i32 %311, 0
  br i1 %312, label %369, label %313
313:
  %314 = load i32, ptr %146, align 4
  %315 = icmp eq i32 %314, 0
  br i1 %315, label %1376, label %316
316:
  %317 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %318 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %319 = load i32, ptr %3, align 4
  br label %320
320:
  %321 = phi i32 [ %314, %316 ], [ %331, %330 ]
  %322 = phi i32 [ %319, %316 ], [ %332, %330 ]
  %323 = phi i32 [ 0, %316 ], [ %333, %330 ]
  %324 = phi ptr [ %5, %316 ], [ %336, %330 ]
  %325 = phi ptr [ %7, %316 ], [ %339, %330 ]
  %326 = phi ptr [ %6, %316 ], [ %338, %330 ]
  %327 = icmp eq i32 %322, 0
  br i1 %327, label %330, label %341
328:
  %329 = load i32, ptr %146, align 4
  br label %330
330:
  %331 = phi i32 [ %321, %320 ], [ %329, %328 ]
  %332 = phi i32 [ 0, %320 ], [ %355, %328 ]
  %333 = add nuw i32 %323, 1
  %334 = load i32, ptr %318, align 4
  %335 = zext i32 %334 to i64
  %336 = getelementptr inbounds nuw double, ptr %324, i64 %335
  %337 = zext i32 %332 to i64
  %338 = getelementptr inbounds nuw double, ptr %326, i64 %337
  %339 = getelementptr inbounds nuw double, ptr %325, i64 %337
  %340 = icmp ult i32 %333, %331
  br i1 %340, label %320, label %1376
341:
  %342 = phi i32 [ %354, %351 ], [ 0, %320 ]
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %31)
  %343 = zext i32 %342 to i64
  %344 = getelementptr inbounds nuw double, ptr %326, i64 %343
  %345 = load <8 x double>, ptr %344, align 8
  store <8 x double> %345, ptr %31, align 8
  %346 = getelementptr inbounds nuw double, ptr %4, i64 %343
  %347 = load i32, ptr %317, align 4
  %348 = icmp eq i32 %347, 0
  br i1 %348, label %351, label %357
349:
  %350 = load <8 x double>, ptr %31, align 8
  br label %351
351:
  %352 = phi <8 x double> [ %350, %349 ], [ %345, %341 ]
  %353 = getelementptr inbounds nuw double, ptr %325, i64 %343
  store <8 x double> %352, ptr %353, align 8
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %31)
  %354 = add i32 %342, 8
  %355 = load i32, ptr %3, align 4
  %356 = icmp ult i32 %354, %355
  br i1 %356, label %341, label %328
357:
  %358 = phi i64 [ %365, %357 ], [ 0, %341 ]
  %359 = load i32, ptr %3, align 4
  %360 = trunc nuw i64 %358 to i32
  %361 = mul i32 %359, %360
  %362 = zext i32 %361 to i64
  %363 = getelementptr inbounds nuw double, ptr %346, i64 %362
  %364 = getelementptr inbounds nuw double, ptr %324, i64 %358
  call void %14(ptr %363, ptr %364, ptr nonnull %31)
  %365 = add nuw nsw i64 %358, 1
  %366 = load i32, ptr %317, align 4
  %367 = zext i32 %366 to i64
  %368 = icmp samesign ult i64 %365, %367
  br i1 %368, label %357, label %349
369:
  %370 = getelementptr inbounds nuw i8, ptr %3, i64 44
  %371 = load i32, ptr %370, align 4
  %372 = icmp eq i32 %371, 0
  br i1 %372, label %425, label %373
373:
  %374 = load i32, ptr %3, align 4
  %375 = load i32, ptr %146, align 4
  %376 = icmp eq i32 %375, 0
  br i1 %376, label %1376, label %377
377:
  %378 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %379 = load i32, ptr %378, align 4
  %380 = getelementptr inbounds nuw i8, ptr %3, i64 48
  %381 = load i32, ptr %380, align 4
  %382 = zext i32 %374 to i64
  %383 = shl nuw nsw i64 %382, 2
  %384 = icmp eq i32 %379, 0
  %385 = icmp eq i32 %374, 0
  %386 = icmp eq i32 %381, 0
  %387 = zext i32 %379 to i64
  br label %388
388:
  %389 = phi ptr [ %5, %377 ], [ %401, %399 ]
  %390 = phi ptr [ %6, %377 ], [ %402, %399 ]
  %391 = phi i32 [ 0, %377 ], [ %400, %399 ]
  %392 = phi ptr [ %7, %377 ], [ %403, %399 ]
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 4 %392, ptr align 4 %390, i64 %383, i1 false)
  br i1 %384, label %399, label %393
393:
  %394 = phi i64 [ %406, %405 ], [ 0, %388 ]
  br i1 %385, label %405, label %395
395:
  %396 = trunc nuw i64 %394 to i32
  %397 = mul i32 %374, %396
  %398 = getelementptr inbounds nuw i32, ptr %389, i64 %394
  br label %408
399:
  %400 = add nuw i32 %391, 1
  %401 = getelementptr inbounds nuw i32, ptr %389, i64 %387
  %402 = getelementptr inbounds nuw i32, ptr %390, i64 %382
  %403 = getelementptr inbounds nuw i32, ptr %392, i64 %382
  %404 = icmp eq i32 %400, %375
  br i1 %404, label %1374, label %388
405:
  %406 = add nuw nsw i64 %394, 1
  %407 = icmp eq i64 %406, %387
  br i1 %407, label %399, label %393
408:
  %409 = phi i64 [ 0, %395 ], [ %423, %408 ]
  %410 = trunc nuw i64 %409 to i32
  %411 = add i32 %397, %410
  %412 = zext i32 %411 to i64
  %413 = getelementptr inbounds nuw i32, ptr %4, i64 %412
  %414 = load i32, ptr %413, align 4
  %415 = load i32, ptr %398, align 4
  %416 = xor i32 %415, %414
  %417 = and i32 %415, %414
  %418 = select i1 %386, i32 %417, i32 %416
  %419 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %418)
  %420 = getelementptr inbounds nuw i32, ptr %392, i64 %409
  %421 = load i32, ptr %420, align 4
  %422 = add i32 %419, %421
  store i32 %422, ptr %420, align 4
  %423 = add nuw nsw i64 %409, 1
  %424 = icmp eq i64 %423, %382
  br i1 %424, label %405, label %408
425:
  %426 = getelementptr inbounds nuw i8, ptr %3, i64 24
  %427 = load i32, ptr %426, align 4
  %428 = icmp eq i32 %427, 0
  br i1 %428, label %429, label %774
429:
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %27)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %28)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %29)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %30)
  %430 = load i32, ptr %3, align 4
  %431 = getelementptr inbounds nuw i8, ptr %3, i64 76
  %432 = load i32, ptr %431, align 4
  %433 = getelementptr inbounds nuw i8, ptr %3, i64 40
  %434 = load i32, ptr %433, align 4
  %435 = udiv i32 16, %434
  %436 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %437 = load i32, ptr %436, align 4
  %438 = icmp ult i32 %437, 2
  br i1 %438, label %497, label %439
439:
  %440 = lshr i32 %437, 1
  %441 = getelementptr inbounds nuw i8, ptr %3, i64 104
  %442 = load i32, ptr %441, align 4
  %443 = icmp eq i32 %430, 0
  %444 = icmp eq i32 %442, 0
  %445 = sub i32 32, %434
  %446 = insertelement <16 x i32> poison, i32 %445, i64 0
  %447 = shufflevector <16 x i32> %446, <16 x i32> poison, <16 x i32> zeroinitializer
  %448 = zext i32 %430 to i64
  %449 = zext nneg i32 %440 to i64
  br label %450
450:
  %451 = phi i64 [ 0, %439 ], [ %474, %473 ]
  br i1 %443, label %473, label %452
452:
  %453 = trunc nuw nsw i64 %451 to i32
  %454 = udiv i32 %453, %435
  %455 = mul i32 %454, %430
  %456 = zext i32 %455 to i64
  %457 = getelementptr inbounds nuw i32, ptr %4, i64 %456
  %458 = urem i32 %453, %435
  %459 = shl nuw nsw i32 %458, 1
  %460 = xor i32 %459, -1
  %461 = mul i32 %434, %460
  %462 = add i32 %461, 32
  %463 = insertelement <16 x i32> poison, i32 %462, i64 0
  %464 = shufflevector <16 x i32> %463, <16 x i32> poison, <16 x i32> zeroinitializer
  %465 = xor i32 %459, -2
  %466 = mul i32 %465, %434
  %467 = add i32 %466, 32
  %468 = insertelement <16 x i32> poison, i32 %467, i64 0
  %469 = shufflevector <16 x i32> %468, <16 x i32> poison, <16 x i32> zeroinitializer
  %470 = mul i32 %430, %453
  %471 = zext i32 %470 to i64
  %472 = getelementptr inbounds nuw i32, ptr %27, i64 %471
  br label %476
473:
  %474 = add nuw nsw i64 %451, 1
  %475 = icmp eq i64 %474, %449
  br i1 %475, label %497, label %450
476:
  %477 = phi i64 [ 0, %452 ], [ %495, %488 ]
  %478 = getelementptr inbounds nuw i32, ptr %457, i64 %477
  %479 = load <16 x i32>, ptr %478, align 4
  %480 = shl <16 x i32> %479, %464
  %481 = shl <16 x i32> %479, %469
  br i1 %444, label %485, label %482
482:
  %483 = ashr <16 x i32> %480, %447
  %484 = ashr <16 x i32> %481, %447
  br label %488
485:
  %486 = lshr <16 x i32> %480, %447
  %487 = lshr <16 x i32> %481, %447
  br label %488
488:
  %489 = phi <16 x i32> [ %483, %482 ], [ %486, %485 ]
  %490 = phi <16 x i32> [ %484, %482 ], [ %487, %485 ]
  %491 = and <16 x i32> %489, splat (i32 65535)
  %492 = shl <16 x i32> %490, splat (i32 16)
  %493 = or disjoint <16 x i32> %492, %491
  %494 = getelementptr inbounds nuw i32, ptr %472, i64 %477
  store <16 x i32> %493, ptr %494, align 4
  %495 = add nuw nsw i64 %477, 16
  %496 = icmp samesign ult i64 %495, %448
  br i1 %496, label %476, label %473
497:
  %498 = icmp eq i32 %432, 0
  %499 = icmp eq i32 %430, 0
  %500 = select i1 %498, i1 true, i1 %499
  br i1 %500, label %544, label %501
501:
  %502 = getelementptr inbounds nuw i8, ptr %3, i64 72
  %503 = load i32, ptr %502, align 4
  %504 = icmp eq i32 %503, 0
  %505 = zext i32 %503 to i64
  br label %506
506:
  %507 = phi ptr [ %8, %501 ], [ %510, %509 ]
  %508 = phi i32 [ 0, %501 ], [ %511, %509 ]
  br i1 %504, label %509, label %513
509:
  %510 = phi ptr [ %507, %506 ], [ %527, %526 ]
  %511 = add nuw i32 %508, 1
  %512 = icmp eq i32 %511, %430
  br i1 %512, label %544, label %506
513:
  %514 = phi i64 [ %528, %526 ], [ 0, %506 ]
  %515 = phi ptr [ %527, %526 ], [ %507, %506 ]
  %516 = load i32, ptr %515, align 4
  %517 = lshr i32 %516, 5
  %518 = zext nneg i32 %517 to i64
  %519 = getelementptr inbounds nuw i32, ptr %309, i64 %518
  %520 = load i32, ptr %519, align 4
  %521 = and i32 %516, 31
  %522 = lshr i32 %520, %521
  %523 = trunc nuw i64 %514 to i32
  %524 = shl i32 %523, 2
  %525 = shl nuw i64 %514, 1
  br label %530
526:
  %527 = getelementptr inbounds nuw i8, ptr %515, i64 4
  %528 = add nuw nsw i64 %514, 1
  %529 = icmp eq i64 %528, %505
  br i1 %529, label %509, label %513
530:
  %531 = phi i1 [ true, %513 ], [ false, %530 ]
  %532 = phi i64 [ 0, %513 ], [ 1, %530 ]
  %533 = phi i32 [ %522, %513 ], [ %543, %530 ]
  %534 = and i32 %533, 3
  %535 = or disjoint i32 %534, %524
  %536 = mul i32 %535, %432
  %537 = or disjoint i64 %532, %525
  %538 = trunc i64 %537 to i32
  %539 = mul i32 %430, %538
  %540 = add i32 %539, %508
  %541 = zext i32 %540 to i64
  %542 = getelementptr inbounds nuw i32, ptr %29, i64 %541
  store i32 %536, ptr %542, align 4
  %543 = lshr i32 %533, 2
  br i1 %531, label %530, label %526
544:
  %545 = load i32, ptr %146, align 4
  %546 = icmp eq i32 %545, 0
  br i1 %546, label %772, label %547
547:
  %548 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %549 = icmp eq i32 %430, 0
  %550 = zext i32 %430 to i64
  %551 = getelementptr inbounds nuw i8, ptr %3, i64 112
  %552 = getelementptr inbounds nuw i8, ptr %3, i64 32
  br label %553
553:
  %554 = phi i32 [ %545, %547 ], [ %712, %711 ]
  %555 = phi ptr [ %5, %547 ], [ %716, %711 ]
  %556 = phi ptr [ %6, %547 ], [ %717, %711 ]
  %557 = phi ptr [ %7, %547 ], [ %718, %711 ]
  %558 = phi i32 [ 0, %547 ], [ %713, %711 ]
  br i1 %498, label %559, label %567
559:
  %560 = load i32, ptr %436, align 4
  %561 = icmp eq i32 %560, 0
  br i1 %561, label %708, label %562
562:
  %563 = load i32, ptr %433, align 4
  %564 = icmp eq i32 %563, 8
  %565 = load i32, ptr %551, align 4
  %566 = icmp eq i32 %565, 0
  br label %678
567:
  %568 = load i32, ptr %548, align 4
  %569 = load i32, ptr %431, align 4
  %570 = icmp eq i32 %568, 0
  br i1 %570, label %615, label %571
571:
  %572 = icmp eq i32 %569, 2
  br label %573
573:
  %574 = phi ptr [ %30, %571 ], [ %584, %582 ]
  %575 = phi i32 [ 0, %571 ], [ %583, %582 ]
  br i1 %549, label %582, label %576
576:
  %577 = udiv i32 4, %569
  %578 = mul i32 %577, %575
  br label %579
579:
  %580 = phi i64 [ 0, %576 ], [ %588, %586 ]
  %581 = trunc nuw i64 %580 to i32
  br label %590
582:
  %583 = add nuw i32 %575, 1
  %584 = getelementptr inbounds nuw i32, ptr %574, i64 %550
  %585 = icmp eq i32 %583, %568
  br i1 %585, label %615, label %573
586:
  %587 = getelementptr inbounds nuw i32, ptr %574, i64 %580
  store i32 %612, ptr %587, align 4
  %588 = add nuw nsw i64 %580, 1
  %589 = icmp eq i64 %588, %550
  br i1 %589, label %582, label %579
590:
  %591 = phi i32 [ 0, %579 ], [ %613, %608 ]
  %592 = phi i32 [ 0, %579 ], [ %612, %608 ]
  %593 = udiv i32 %591, %569
  %594 = add i32 %578, %593
  %595 = mul i32 %594, %430
  %596 = add i32 %595, %581
  %597 = zext i32 %596 to i64
  %598 = getelementptr inbounds nuw i32, ptr %29, i64 %597
  %599 = load i32, ptr %598, align 4
  %600 = zext i32 %599 to i64
  %601 = getelementptr inbounds nuw i8, ptr %555, i64 %600
  br i1 %572, label %602, label %605
602:
  %603 = load i16, ptr %601, align 2
  %604 = zext i16 %603 to i32
  br label %608
605:
  %606 = load i8, ptr %601, align 1
  %607 = zext i8 %606 to i32
  br label %608
608:
  %609 = phi i32 [ %604, %602 ], [ %607, %605 ]
  %610 = shl nuw nsw i32 %591, 3
  %611 = shl i32 %609, %610
  %612 = or i32 %611, %592
  %613 = add i32 %591, %569
  %614 = icmp ult i32 %613, 4
  br i1 %614, label %590, label %586
615:
  %616 = load i32, ptr %433, align 4
  %617 = udiv i32 16, %616
  %618 = load i32, ptr %3, align 4
  %619 = load i32, ptr %436, align 4
  %620 = icmp ult i32 %619, 2
  br i1 %620, label %708, label %621
621:
  %622 = lshr i32 %619, 1
  %623 = load i32, ptr %551, align 4
  %624 = icmp eq i32 %618, 0
  %625 = icmp eq i32 %623, 0
  %626 = sub i32 32, %616
  %627 = insertelement <16 x i32> poison, i32 %626, i64 0
  %628 = shufflevector <16 x i32> %627, <16 x i32> poison, <16 x i32> zeroinitializer
  %629 = zext i32 %618 to i64
  %630 = zext nneg i32 %622 to i64
  br label %631
631:
  %632 = phi i64 [ 0, %621 ], [ %655, %654 ]
  br i1 %624, label %654, label %633
633:
  %634 = trunc nuw nsw i64 %632 to i32
  %635 = udiv i32 %634, %617
  %636 = mul i32 %635, %618
  %637 = zext i32 %636 to i64
  %638 = getelementptr inbounds nuw i32, ptr %30, i64 %637
  %639 = urem i32 %634, %617
  %640 = shl nuw nsw i32 %639, 1
  %641 = xor i32 %640, -1
  %642 = mul i32 %616, %641
  %643 = add i32 %642, 32
  %644 = insertelement <16 x i32> poison, i32 %643, i64 0
  %645 = shufflevector <16 x i32> %644, <16 x i32> poison, <16 x i32> zeroinitializer
  %646 = xor i32 %640, -2
  %647 = mul i32 %646, %616
  %648 = add i32 %647, 32
  %649 = insertelement <16 x i32> poison, i32 %648, i64 0
  %650 = shufflevector <16 x i32> %649, <16 x i32> poison, <16 x i32> zeroinitializer
  %651 = mul i32 %618, %634
  %652 = zext i32 %651 to i64
  %653 = getelementptr inbounds nuw i32, ptr %28, i64 %652
  br label %657
654:
  %655 = add nuw nsw i64 %632, 1
  %656 = icmp eq i64 %655, %630
  br i1 %656, label %708, label %631
657:
  %658 = phi i64 [ 0, %633 ], [ %676, %669 ]
  %659 = getelementptr inbounds nuw i32, ptr %638, i64 %658
  %660 = load <16 x i32>, ptr %659, align 4
  %661 = shl <16 x i32> %660, %645
  %662 = shl <16 x i32> %660, %650
  br i1 %625, label %666, label %663
663:
  %664 = ashr <16 x i32> %661, %628
  %665 = ashr <16 x i32> %662, %628
  br label %669
666:
  %667 = lshr <16 x i32> %661, %628
  %668 = lshr <16 x i32> %662, %628
  br label %669
669:
  %670 = phi <16 x i32> [ %664, %663 ], [ %667, %666 ]
  %671 = phi <16 x i32> [ %665, %663 ], [ %668, %666 ]
  %672 = and <16 x i32> %670, splat (i32 65535)
  %673 = shl <16 x i32> %671, splat (i32 16)
  %674 = or disjoint <16 x i32> %673, %672
  %675 = getelementptr inbounds nuw i32, ptr %653, i64 %658
  store <16 x i32> %674, ptr %675, align 4
  %676 = add nuw nsw i64 %658, 16
  %677 = icmp samesign ult i64 %676, %629
  br i1 %677, label %657, label %654
678:
  %679 = phi ptr [ %555, %562 ], [ %706, %703 ]
  %680 = phi i32 [ 0, %562 ], [ %705, %703 ]
  %681 = load <16 x i8>, ptr %679, align 1
  br i1 %564, label %682, label %688
682:
  %683 = sext <16 x i8> %681 to <16 x i16>
  %684 = zext <16 x i8> %681 to <16 x i16>
  %685 = select i1 %566, <16 x i16> %684, <16 x i16> %683
  %686 = zext i32 %680 to i64
  %687 = getelementptr inbounds nuw i16, ptr %28, i64 %686
  store <16 x i16> %685, ptr %687, align 16
  br label %703
688:
  br i1 %566, label %693, label %689
689:
  %690 = shl <16 x i8> %681, splat (i8 4)
  %691 = ashr exact <16 x i8> %690, splat (i8 4)
  %692 = ashr <16 x i8> %681, splat (i8 4)
  br label %696
693:
  %694 = and <16 x i8> %681, splat (i8 15)
  %695 = lshr <16 x i8> %681, splat (i8 4)
  br label %696
696:
  %697 = phi <16 x i8> [ %691, %689 ], [ %694, %693 ]
  %698 = phi <16 x i8> [ %692, %689 ], [ %695, %693 ]
  %699 = shufflevector <16 x i8> %697, <16 x i8> %698, <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %700 = sext <32 x i8> %699 to <32 x i16>
  %701 = zext i32 %680 to i64
  %702 = getelementptr inbounds nuw i16, ptr %28, i64 %701
  store <32 x i16> %700, ptr %702, align 16
  br label %703
703:
  %704 = phi i32 [ 32, %696 ], [ 16, %682 ]
  %705 = add i32 %704, %680
  %706 = getelementptr inbounds nuw i8, ptr %679, i64 16
  %707 = icmp ult i32 %705, %560
  br i1 %707, label %678, label %708
708:
  br i1 %549, label %711, label %720
709:
  %710 = load i32, ptr %146, align 4
  br label %711
711:
  %712 = phi i32 [ %710, %709 ], [ %554, %708 ]
  %713 = add nuw i32 %558, 1
  %714 = load i32, ptr %32, align 4
  %715 = zext i32 %714 to i64
  %716 = getelementptr inbounds nuw i32, ptr %555, i64 %715
  %717 = getelementptr inbounds nuw i32, ptr %556, i64 %550
  %718 = getelementptr inbounds nuw i32, ptr %557, i64 %550
  %719 = icmp ult i32 %713, %712
  br i1 %719, label %553, label %772
720:
  %721 = phi i64 [ %770, %767 ], [ 0, %708 ]
  %722 = getelementptr inbounds nuw i32, ptr %556, i64 %721
  %723 = load <16 x i32>, ptr %722, align 4
  %724 = load i32, ptr %436, align 4
  %725 = getelementptr inbounds nuw i32, ptr %27, i64 %721
  %726 = getelementptr inbounds nuw i32, ptr %28, i64 %721
  %727 = icmp ult i32 %724, 2
  br i1 %727, label %731, label %728
728:
  %729 = lshr i32 %724, 1
  %730 = zext nneg i32 %729 to i64
  br label %735
731:
  %732 = phi <16 x i32> [ zeroinitializer, %720 ], [ %760, %751 ]
  %733 = load i32, ptr %552, align 4
  %734 = icmp eq i32 %733, 0
  br i1 %734, label %765, label %763
735:
  %736 = phi i64 [ 0, %728 ], [ %761, %751 ]
  %737 = phi <16 x i32> [ zeroinitializer, %728 ], [ %760, %751 ]
  %738 = trunc nuw nsw i64 %736 to i32
  %739 = mul i32 %430, %738
  %740 = zext i32 %739 to i64
  %741 = getelementptr inbounds nuw i32, ptr %725, i64 %740
  %742 = load <32 x i16>, ptr %741, align 4
  br i1 %498, label %746, label %743
743:
  %744 = getelementptr inbounds nuw i32, ptr %726, i64 %740
  %745 = load <16 x i32>, ptr %744, align 4
  br label %751
746:
  %747 = getelementptr inbounds nuw [512 x i32], ptr %28, i64 0, i64 %736
  %748 = load i32, ptr %747, align 4
  %749 = insertelement <16 x i32> poison, i32 %748, i64 0
  %750 = shufflevector <16 x i32> %749, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %751
751:
  %752 = phi <16 x i32> [ %745, %743 ], [ %750, %746 ]
  %753 = sext <32 x i16> %742 to <32 x i32>
  %754 = bitcast <16 x i32> %752 to <32 x i16>
  %755 = sext <32 x i16> %754 to <32 x i32>
  %756 = mul nsw <32 x i32> %755, %753
  %757 = shufflevector <32 x i32> %756, <32 x i32> poison, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %758 = shufflevector <32 x i32> %756, <32 x i32> poison, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %759 = add <16 x i32> %758, %737
  %760 = add <16 x i32> %759, %757
  %761 = add nuw nsw i64 %736, 1
  %762 = icmp eq i64 %761, %730
  br i1 %762, label %731, label %735
763:
  %764 = tail call <16 x i32> @llvm.sadd.sat.v16i32(<16 x i32> %732, <16 x i32> %723)
  br label %767
765:
  %766 = add <16 x i32> %732, %723
  br label %767
767:
  %768 = phi <16 x i32> [ %764, %763 ], [ %766, %765 ]
  %769 = getelementptr inbounds nuw i32, ptr %557, i64 %721
  store <16 x i32> %768, ptr %769, align 4
  %770 = add nuw nsw i64 %721, 16
  %771 = icmp samesign ult i64 %770, %550
  br i1 %771, label %720, label %709
772:
  %773 = phi i32 [ 0, %544 ], [ %712, %711 ]
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %30)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %29)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %28)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %27)
  br label %1376
774:
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %20)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %21)
  call void @llvm.lifetime.start.p0(i64 1024, ptr nonnull %22)
  call void @llvm.lifetime.start.p0(i64 1024, ptr nonnull %23)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %24)
  call void @llvm.lifetime.start.p0(i64 2048, ptr nonnull %25)
  %775 = load i32, ptr %3, align 4
  %776 = getelementptr inbounds nuw i8, ptr %3, i64 100
  %777 = load i32, ptr %776, align 4
  %778 = getelementptr inbounds nuw i8, ptr %3, i64 40
  %779 = load i32, ptr %778, align 4
  %780 = udiv i32 32, %779
  %781 = getelementptr inbounds nuw i8, ptr %3, i64 8
  %782 = load i32, ptr %781, align 4
  %783 = mul i32 %782, %775
  %784 = icmp eq i32 %783, 0
  br i1 %784, label %789, label %785
785:
  %786 = getelementptr inbounds nuw i8, ptr %3, i64 36
  %787 = load i32, ptr %786, align 4
  %788 = icmp eq i32 %787, 0
  br label %802
789:
  %790 = phi i32 [ %782, %774 ], [ %826, %824 ]
  %791 = lshr i32 %790, 1
  %792 = mul i32 %791, %775
  %793 = icmp eq i32 %792, 0
  br i1 %793, label %878, label %794
794:
  %795 = insertelement <16 x i32> poison, i32 %777, i64 0
  %796 = shufflevector <16 x i32> %795, <16 x i32> poison, <16 x i32> zeroinitializer
  %797 = zext i32 %775 to i64
  %798 = getelementptr inbounds nuw i8, ptr %3, i64 60
  %799 = load i32, ptr %798, align 4
  %800 = icmp eq i32 %799, 0
  %801 = zext i32 %792 to i64
  br label %829
802:
  %803 = phi i32 [ 0, %785 ], [ %825, %824 ]
  %804 = udiv i32 %803, %775
  %805 = urem i32 %803, %775
  %806 = udiv i32 %804, %780
  %807 = mul i32 %806, %775
  %808 = zext i32 %807 to i64
  %809 = getelementptr inbounds nuw i32, ptr %4, i64 %808
  %810 = zext i32 %805 to i64
  %811 = getelementptr inbounds nuw i32, ptr %809, i64 %810
  %812 = load <16 x i32>, ptr %811, align 4
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %18)
  %813 = urem i32 %804, %780
  %814 = load i32, ptr %778, align 4
  %815 = mul i32 %814, %813
  %816 = insertelement <16 x i32> poison, i32 %815, i64 0
  %817 = shufflevector <16 x i32> %816, <16 x i32> poison, <16 x i32> zeroinitializer
  %818 = lshr <16 x i32> %812, %817
  store <16 x i32> %818, ptr %18, align 4
  %819 = zext i32 %803 to i64
  %820 = getelementptr inbounds nuw float, ptr %20, i64 %819
  call void %9(ptr nonnull %18, ptr nonnull %820)
  br i1 %788, label %824, label %821
821:
  %822 = load <16 x float>, ptr %820, align 16
  %823 = fneg <16 x float> %822
  store <16 x float> %823, ptr %820, align 16
  br label %824
824:
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %18)
  %825 = add i32 %803, 16
  %826 = load i32, ptr %781, align 4
  %827 = mul i32 %826, %775
  %828 = icmp ult i32 %825, %827
  br i1 %828, label %802, label %789
829:
  %830 = phi i64 [ 0, %794 ], [ %876, %867 ]
  %831 = phi <16 x i32> [ zeroinitializer, %794 ], [ %871, %867 ]
  %832 = trunc nuw i64 %830 to i32
  %833 = urem i32 %832, %775
  %834 = sub nuw i32 %832, %833
  %835 = shl i32 %834, 1
  %836 = zext i32 %835 to i64
  %837 = getelementptr inbounds nuw float, ptr %20, i64 %836
  %838 = zext i32 %833 to i64
  %839 = getelementptr inbounds nuw float, ptr %837, i64 %838
  %840 = load <16 x i32>, ptr %839, align 4
  %841 = shl <16 x i32> %840, splat (i32 1)
  %842 = lshr <16 x i32> %841, splat (i32 24)
  %843 = add nsw <16 x i32> %842, splat (i32 -127)
  %844 = icmp eq <16 x i32> %841, zeroinitializer
  %845 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %843, <16 x i32> %796)
  %846 = select <16 x i1> %844, <16 x i32> splat (i32 -2000), <16 x i32> %845
  %847 = getelementptr inbounds nuw float, ptr %839, i64 %797
  %848 = load <16 x i32>, ptr %847, align 4
  %849 = shl <16 x i32> %848, splat (i32 1)
  %850 = lshr <16 x i32> %849, splat (i32 24)
  %851 = add nsw <16 x i32> %850, splat (i32 -127)
  %852 = icmp eq <16 x i32> %849, zeroinitializer
  %853 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %851, <16 x i32> %796)
  %854 = select <16 x i1> %852, <16 x i32> splat (i32 -2000), <16 x i32> %853
  br i1 %800, label %864, label %855
855:
  %856 = add nsw <16 x i32> %846, splat (i32 -51)
  %857 = icmp ult <16 x i32> %856, splat (i32 -101)
  %858 = icmp ne <16 x i32> %846, splat (i32 -2000)
  %859 = and <16 x i1> %858, %857
  %860 = add nsw <16 x i32> %854, splat (i32 -51)
  %861 = icmp ult <16 x i32> %860, splat (i32 -101)
  %862 = icmp ne <16 x i32> %854, splat (i32 -2000)
  %863 = and <16 x i1> %862, %861
  br label %867
864:
  %865 = icmp eq <16 x i32> %846, splat (i32 128)
  %866 = icmp eq <16 x i32> %854, splat (i32 128)
  br label %867
867:
  %868 = phi <16 x i1> [ %859, %855 ], [ %865, %864 ]
  %869 = phi <16 x i1> [ %863, %855 ], [ %866, %864 ]
  %870 = or <16 x i1> %868, %869
  %871 = select <16 x i1> %870, <16 x i32> splat (i32 -1), <16 x i32> %831
  %872 = and <16 x i32> %846, splat (i32 65535)
  %873 = shl <16 x i32> %854, splat (i32 16)
  %874 = or disjoint <16 x i32> %873, %872
  %875 = getelementptr inbounds nuw i32, ptr %22, i64 %830
  store <16 x i32> %874, ptr %875, align 16
  %876 = add nuw nsw i64 %830, 16
  %877 = icmp samesign ult i64 %876, %801
  br i1 %877, label %829, label %878
878:
  %879 = phi <16 x i32> [ zeroinitializer, %789 ], [ %871, %867 ]
  %880 = getelementptr inbounds nuw i8, ptr %3, i64 76
  %881 = load i32, ptr %880, align 4
  %882 = icmp eq i32 %881, 0
  %883 = icmp eq i32 %775, 0
  %884 = or i1 %882, %883
  br i1 %884, label %928, label %885
885:
  %886 = getelementptr inbounds nuw i8, ptr %3, i64 72
  %887 = load i32, ptr %886, align 4
  %888 = icmp eq i32 %887, 0
  %889 = zext i32 %887 to i64
  br label %890
890:
  %891 = phi ptr [ %8, %885 ], [ %894, %893 ]
  %892 = phi i32 [ 0, %885 ], [ %895, %893 ]
  br i1 %888, label %893, label %897
893:
  %894 = phi ptr [ %891, %890 ], [ %911, %910 ]
  %895 = add nuw i32 %892, 1
  %896 = icmp eq i32 %895, %775
  br i1 %896, label %928, label %890
897:
  %898 = phi i64 [ %912, %910 ], [ 0, %890 ]
  %899 = phi ptr [ %911, %910 ], [ %891, %890 ]
  %900 = load i32, ptr %899, align 4
  %901 = lshr i32 %900, 5
  %902 = zext nneg i32 %901 to i64
  %903 = getelementptr inbounds nuw i32, ptr %309, i64 %902
  %904 = load i32, ptr %903, align 4
  %905 = and i32 %900, 31
  %906 = lshr i32 %904, %905
  %907 = trunc nuw i64 %898 to i32
  %908 = shl i32 %907, 2
  %909 = shl nuw i64 %898, 1
  br label %914
910:
  %911 = getelementptr inbounds nuw i8, ptr %899, i64 4
  %912 = add nuw nsw i64 %898, 1
  %913 = icmp eq i64 %912, %889
  br i1 %913, label %893, label %897
914:
  %915 = phi i1 [ true, %897 ], [ false, %914 ]
  %916 = phi i64 [ 0, %897 ], [ 1, %914 ]
  %917 = phi i32 [ %906, %897 ], [ %927, %914 ]
  %918 = and i32 %917, 3
  %919 = or disjoint i32 %918, %908
  %920 = mul i32 %919, %881
  %921 = or disjoint i64 %916, %909
  %922 = trunc i64 %921 to i32
  %923 = mul i32 %775, %922
  %924 = add i32 %923, %892
  %925 = zext i32 %924 to i64
  %926 = getelementptr inbounds nuw i32, ptr %24, i64 %925
  store i32 %920, ptr %926, align 4
  %927 = lshr i32 %917, 2
  br i1 %915, label %914, label %910
928:
  %929 = load i32, ptr %146, align 4
  %930 = icmp eq i32 %929, 0
  br i1 %930, label %1372, label %931
931:
  %932 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %933 = icmp eq i32 %775, 0
  %934 = zext i32 %775 to i64
  %935 = getelementptr inbounds nuw i8, ptr %3, i64 108
  %936 = getelementptr inbounds nuw i8, ptr %3, i64 60
  %937 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %938 = getelementptr inbounds nuw i8, ptr %3, i64 68
  %939 = getelementptr inbounds nuw i8, ptr %3, i64 12
  %940 = getelementptr inbounds nuw i8, ptr %3, i64 116
  %941 = getelementptr inbounds nuw i8, ptr %3, i64 56
  %942 = getelementptr inbounds nuw i8, ptr %3, i64 92
  %943 = icmp ne i32 %775, 0
  br label %944
944:
  %945 = phi ptr [ %5, %931 ], [ %1357, %1353 ]
  %946 = phi ptr [ %6, %931 ], [ %1358, %1353 ]
  %947 = phi ptr [ %7, %931 ], [ %1359, %1353 ]
  %948 = phi i32 [ 0, %931 ], [ %1354, %1353 ]
  %949 = load i32, ptr %880, align 4
  %950 = icmp eq i32 %949, 0
  br i1 %950, label %951, label %954
951:
  %952 = load i32, ptr %781, align 4
  %953 = icmp eq i32 %952, 0
  br i1 %953, label %1139, label %1093
954:
  %955 = load i32, ptr %932, align 4
  %956 = icmp eq i32 %955, 0
  br i1 %956, label %1001, label %957
957:
  %958 = icmp eq i32 %949, 2
  br label %959
959:
  %960 = phi ptr [ %25, %957 ], [ %970, %968 ]
  %961 = phi i32 [ 0, %957 ], [ %969, %968 ]
  br i1 %933, label %968, label %962
962:
  %963 = udiv i32 4, %949
  %964 = mul i32 %963, %961
  br label %965
965:
  %966 = phi i64 [ 0, %962 ], [ %974, %972 ]
  %967 = trunc nuw i64 %966 to i32
  br label %976
968:
  %969 = add nuw i32 %961, 1
  %970 = getelementptr inbounds nuw i32, ptr %960, i64 %934
  %971 = icmp eq i32 %969, %955
  br i1 %971, label %1001, label %959
972:
  %973 = getelementptr inbounds nuw i32, ptr %960, i64 %966
  store i32 %998, ptr %973, align 4
  %974 = add nuw nsw i64 %966, 1
  %975 = icmp eq i64 %974, %934
  br i1 %975, label %968, label %965
976:
  %977 = phi i32 [ 0, %965 ], [ %999, %994 ]
  %978 = phi i32 [ 0, %965 ], [ %998, %994 ]
  %979 = udiv i32 %977, %949
  %980 = add i32 %964, %979
  %981 = mul i32 %980, %775
  %982 = add i32 %981, %967
  %983 = zext i32 %982 to i64
  %984 = getelementptr inbounds nuw i32, ptr %24, i64 %983
  %985 = load i32, ptr %984, align 4
  %986 = zext i32 %985 to i64
  %987 = getelementptr inbounds nuw i8, ptr %945, i64 %986
  br i1 %958, label %988, label %991
988:
  %989 = load i16, ptr %987, align 2
  %990 = zext i16 %989 to i32
  br label %994
991:
  %992 = load i8, ptr %987, align 1
  %993 = zext i8 %992 to i32
  br label %994
994:
  %995 = phi i32 [ %990, %988 ], [ %993, %991 ]
  %996 = shl nuw nsw i32 %977, 3
  %997 = shl i32 %995, %996
  %998 = or i32 %997, %978
  %999 = add i32 %977, %949
  %1000 = icmp ult i32 %999, 4
  br i1 %1000, label %976, label %972
1001:
  %1002 = load i32, ptr %935, align 4
  %1003 = load i32, ptr %3, align 4
  %1004 = load i32, ptr %778, align 4
  %1005 = udiv i32 32, %1004
  %1006 = load i32, ptr %781, align 4
  %1007 = mul i32 %1006, %1003
  %1008 = icmp eq i32 %1007, 0
  br i1 %1008, label %1009, label %1021
1009:
  %1010 = phi i32 [ %1006, %1001 ], [ %1041, %1021 ]
  %1011 = lshr i32 %1010, 1
  %1012 = mul i32 %1011, %1003
  %1013 = icmp eq i32 %1012, 0
  br i1 %1013, label %1139, label %1014
1014:
  %1015 = insertelement <16 x i32> poison, i32 %1002, i64 0
  %1016 = shufflevector <16 x i32> %1015, <16 x i32> poison, <16 x i32> zeroinitializer
  %1017 = zext i32 %1003 to i64
  %1018 = load i32, ptr %936, align 4
  %1019 = icmp eq i32 %1018, 0
  %1020 = zext i32 %1012 to i64
  br label %1044
1021:
  %1022 = phi i32 [ %1040, %1021 ], [ 0, %1001 ]
  %1023 = udiv i32 %1022, %1003
  %1024 = urem i32 %1022, %1003
  %1025 = udiv i32 %1023, %1005
  %1026 = mul i32 %1025, %1003
  %1027 = zext i32 %1026 to i64
  %1028 = getelementptr inbounds nuw i32, ptr %25, i64 %1027
  %1029 = zext i32 %1024 to i64
  %1030 = getelementptr inbounds nuw i32, ptr %1028, i64 %1029
  %1031 = load <16 x i32>, ptr %1030, align 4
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %19)
  %1032 = urem i32 %1023, %1005
  %1033 = load i32, ptr %778, align 4
  %1034 = mul i32 %1033, %1032
  %1035 = insertelement <16 x i32> poison, i32 %1034, i64 0
  %1036 = shufflevector <16 x i32> %1035, <16 x i32> poison, <16 x i32> zeroinitializer
  %1037 = lshr <16 x i32> %1031, %1036
  store <16 x i32> %1037, ptr %19, align 4
  %1038 = zext i32 %1022 to i64
  %1039 = getelementptr inbounds nuw float, ptr %21, i64 %1038
  call void %10(ptr nonnull %19, ptr nonnull %1039)
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %19)
  %1040 = add i32 %1022, 16
  %1041 = load i32, ptr %781, align 4
  %1042 = mul i32 %1041, %1003
  %1043 = icmp ult i32 %1040, %1042
  br i1 %1043, label %1021, label %1009
1044:
  %1045 = phi i64 [ 0, %1014 ], [ %1091, %1082 ]
  %1046 = phi <16 x i32> [ zeroinitializer, %1014 ], [ %1086, %1082 ]
  %1047 = trunc nuw i64 %1045 to i32
  %1048 = urem i32 %1047, %1003
  %1049 = sub nuw i32 %1047, %1048
  %1050 = shl i32 %1049, 1
  %1051 = zext i32 %1050 to i64
  %1052 = getelementptr inbounds nuw float, ptr %21, i64 %1051
  %1053 = zext i32 %1048 to i64
  %1054 = getelementptr inbounds nuw float, ptr %1052, i64 %1053
  %1055 = load <16 x i32>, ptr %1054, align 4
  %1056 = shl <16 x i32> %1055, splat (i32 1)
  %1057 = lshr <16 x i32> %1056, splat (i32 24)
  %1058 = add nsw <16 x i32> %1057, splat (i32 -127)
  %1059 = icmp eq <16 x i32> %1056, zeroinitializer
  %1060 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1058, <16 x i32> %1016)
  %1061 = select <16 x i1> %1059, <16 x i32> splat (i32 -2000), <16 x i32> %1060
  %1062 = getelementptr inbounds nuw float, ptr %1054, i64 %1017
  %1063 = load <16 x i32>, ptr %1062, align 4
  %1064 = shl <16 x i32> %1063, splat (i32 1)
  %1065 = lshr <16 x i32> %1064, splat (i32 24)
  %1066 = add nsw <16 x i32> %1065, splat (i32 -127)
  %1067 = icmp eq <16 x i32> %1064, zeroinitializer
  %1068 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1066, <16 x i32> %1016)
  %1069 = select <16 x i1> %1067, <16 x i32> splat (i32 -2000), <16 x i32> %1068
  br i1 %1019, label %1079, label %1070
1070:
  %1071 = add nsw <16 x i32> %1061, splat (i32 -51)
  %1072 = icmp ult <16 x i32> %1071, splat (i32 -101)
  %1073 = icmp ne <16 x i32> %1061, splat (i32 -2000)
  %1074 = and <16 x i1> %1073, %1072
  %1075 = add nsw <16 x i32> %1069, splat (i32 -51)
  %1076 = icmp ult <16 x i32> %1075, splat (i32 -101)
  %1077 = icmp ne <16 x i32> %1069, splat (i32 -2000)
  %1078 = and <16 x i1> %1077, %1076
  br label %1082
1079:
  %1080 = icmp eq <16 x i32> %1061, splat (i32 128)
  %1081 = icmp eq <16 x i32> %1069, splat (i32 128)
  br label %1082
1082:
  %1083 = phi <16 x i1> [ %1074, %1070 ], [ %1080, %1079 ]
  %1084 = phi <16 x i1> [ %1078, %1070 ], [ %1081, %1079 ]
  %1085 = or <16 x i1> %1083, %1084
  %1086 = select <16 x i1> %1085, <16 x i32> splat (i32 -1), <16 x i32> %1046
  %1087 = and <16 x i32> %1061, splat (i32 65535)
  %1088 = shl <16 x i32> %1069, splat (i32 16)
  %1089 = or disjoint <16 x i32> %1088, %1087
  %1090 = getelementptr inbounds nuw i32, ptr %23, i64 %1045
  store <16 x i32> %1089, ptr %1090, align 16
  %1091 = add nuw nsw i64 %1045, 16
  %1092 = icmp samesign ult i64 %1091, %1020
  br i1 %1092, label %1044, label %1139
1093:
  %1094 = phi <16 x i32> [ %1133, %1131 ], [ zeroinitializer, %951 ]
  %1095 = phi i32 [ %1136, %1131 ], [ 0, %951 ]
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %17)
  %1096 = zext i32 %1095 to i64
  %1097 = getelementptr inbounds nuw i32, ptr %945, i64 %1096
  %1098 = load <16 x i32>, ptr %1097, align 4
  store <16 x i32> %1098, ptr %17, align 4
  %1099 = load i32, ptr %778, align 4
  switch i32 %1099, label %1110 [
    i32 16, label %1100
    i32 8, label %1104
  ]
1100:
  %1101 = getelementptr inbounds nuw i16, ptr %945, i64 %1096
  %1102 = load <16 x i16>, ptr %1101, align 2
  %1103 = zext <16 x i16> %1102 to <16 x i32>
  br label %1108
1104:
  %1105 = getelementptr inbounds nuw i8, ptr %945, i64 %1096
  %1106 = load <16 x i8>, ptr %1105, align 1
  %1107 = zext <16 x i8> %1106 to <16 x i32>
  br label %1108
1108:
  %1109 = phi <16 x i32> [ %1107, %1104 ], [ %1103, %1100 ]
  store <16 x i32> %1109, ptr %17, align 4
  br label %1110
1110:
  %1111 = getelementptr inbounds nuw float, ptr %21, i64 %1096
  call void %10(ptr nonnull %17, ptr nonnull %1111)
  %1112 = load <16 x i32>, ptr %1111, align 16
  %1113 = load i32, ptr %935, align 4
  %1114 = shl <16 x i32> %1112, splat (i32 1)
  %1115 = lshr <16 x i32> %1114, splat (i32 24)
  %1116 = add nsw <16 x i32> %1115, splat (i32 -127)
  %1117 = icmp eq <16 x i32> %1114, zeroinitializer
  %1118 = insertelement <16 x i32> poison, i32 %1113, i64 0
  %1119 = shufflevector <16 x i32> %1118, <16 x i32> poison, <16 x i32> zeroinitializer
  %1120 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1116, <16 x i32> %1119)
  %1121 = select <16 x i1> %1117, <16 x i32> splat (i32 -2000), <16 x i32> %1120
  %1122 = load i32, ptr %936, align 4
  %1123 = icmp eq i32 %1122, 0
  br i1 %1123, label %1129, label %1124
1124:
  %1125 = add nsw <16 x i32> %1121, splat (i32 -51)
  %1126 = icmp ult <16 x i32> %1125, splat (i32 -101)
  %1127 = icmp ne <16 x i32> %1121, splat (i32 -2000)
  %1128 = and <16 x i1> %1127, %1126
  br label %1131
1129:
  %1130 = icmp eq <16 x i32> %1121, splat (i32 128)
  br label %1131
1131:
  %1132 = phi <16 x i1> [ %1128, %1124 ], [ %1130, %1129 ]
  %1133 = select <16 x i1> %1132, <16 x i32> splat (i32 -1), <16 x i32> %1094
  %1134 = trunc <16 x i32> %1121 to <16 x i16>
  %1135 = getelementptr inbounds nuw i16, ptr %23, i64 %1096
  store <16 x i16> %1134, ptr %1135, align 16
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %17)
  %1136 = add i32 %1095, 16
  %1137 = load i32, ptr %781, align 4
  %1138 = icmp ult i32 %1136, %1137
  br i1 %1138, label %1093, label %1139
1139:
  %1140 = phi <16 x i32> [ zeroinitializer, %951 ], [ zeroinitializer, %1009 ], [ %1133, %1131 ], [ %1086, %1082 ]
  %1141 = or <16 x i32> %1140, %879
  br i1 %933, label %1142, label %1147
1142:
  %1143 = phi <16 x i32> [ %1141, %1139 ], [ %1342, %1340 ]
  %1144 = call i32 @llvm.vector.reduce.or.v16i32(<16 x i32> %1143)
  %1145 = icmp eq i32 %1144, 0
  %1146 = load i32, ptr %937, align 4
  br i1 %1145, label %1349, label %1345, !prof !{!"branch_weights", !"expected", i32 2000, i32 1}
1147:
  %1148 = phi i32 [ %1343, %1340 ], [ 0, %1139 ]
  %1149 = phi <16 x i32> [ %1342, %1340 ], [ %1141, %1139 ]
  %1150 = zext i32 %1148 to i64
  %1151 = getelementptr inbounds nuw float, ptr %947, i64 %1150
  %1152 = load i32, ptr %880, align 4
  %1153 = icmp eq i32 %1152, 0
  %1154 = select i1 %1153, i32 0, i32 %1148
  %1155 = load i32, ptr %937, align 4
  %1156 = icmp eq i32 %1155, 0
  br i1 %1156, label %1157, label %1160
1157:
  %1158 = getelementptr inbounds nuw float, ptr %946, i64 %1150
  %1159 = load <16 x float>, ptr %1158, align 4
  br label %1160
1160:
  %1161 = phi <16 x float> [ %1159, %1157 ], [ zeroinitializer, %1147 ]
  store <16 x float> %1161, ptr %1151, align 4
  %1162 = getelementptr inbounds nuw float, ptr %20, i64 %1150
  %1163 = getelementptr inbounds nuw i32, ptr %22, i64 %1150
  %1164 = zext i32 %1154 to i64
  %1165 = getelementptr inbounds nuw float, ptr %21, i64 %1164
  %1166 = getelementptr inbounds nuw i32, ptr %23, i64 %1164
  %1167 = load i32, ptr %3, align 4
  %1168 = load i32, ptr %938, align 4
  %1169 = icmp sgt i32 %1168, 16
  %1170 = load i32, ptr %939, align 4
  %1171 = call i32 @llvm.umin.i32(i32 %1170, i32 8)
  %1172 = select i1 %1169, i32 %1171, i32 %1170
  %1173 = load i32, ptr %781, align 4
  %1174 = icmp eq i32 %1173, 0
  br i1 %1174, label %1340, label %1175
1175:
  %1176 = load i32, ptr %880, align 4
  %1177 = icmp eq i32 %1176, 0
  br label %1178
1178:
  %1179 = phi i32 [ 0, %1175 ], [ %1337, %1334 ]
  %1180 = phi i32 [ %1170, %1175 ], [ %1336, %1334 ]
  %1181 = phi ptr [ %940, %1175 ], [ %942, %1334 ]
  %1182 = phi <16 x i32> [ zeroinitializer, %1175 ], [ %1200, %1334 ]
  %1183 = phi i32 [ 0, %1175 ], [ %1335, %1334 ]
  %1184 = load i32, ptr %1181, align 4
  %1185 = load <16 x i32>, ptr %1151, align 4
  %1186 = shl <16 x i32> %1185, splat (i32 1)
  %1187 = lshr <16 x i32> %1186, splat (i32 24)
  %1188 = add nsw <16 x i32> %1187, splat (i32 -127)
  %1189 = icmp eq <16 x i32> %1186, zeroinitializer
  %1190 = insertelement <16 x i32> poison, i32 %1184, i64 0
  %1191 = shufflevector <16 x i32> %1190, <16 x i32> poison, <16 x i32> zeroinitializer
  %1192 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1188, <16 x i32> %1191)
  %1193 = select <16 x i1> %1189, <16 x i32> splat (i32 -2000), <16 x i32> %1192
  %1194 = add nsw <16 x i32> %1193, splat (i32 -101)
  %1195 = icmp ult <16 x i32> %1194, splat (i32 -201)
  %1196 = icmp ne <16 x i32> %1193, splat (i32 -2000)
  %1197 = and <16 x i1> %1196, %1195
  %1198 = icmp eq <16 x i32> %1185, splat (i32 -2147483648)
  %1199 = select <16 x i1> %1198, <16 x i1> splat (i1 true), <16 x i1> %1197
  %1200 = select <16 x i1> %1199, <16 x i32> splat (i32 -1), <16 x i32> %1182
  %1201 = icmp eq i32 %1180, 0
  %1202 = bitcast <16 x i32> %1185 to <16 x float>
  br i1 %1201, label %1208, label %1203
1203:
  %1204 = load i32, ptr %937, align 4
  %1205 = icmp eq i32 %1204, 0
  br label %1229
1206:
  %1207 = bitcast <32 x i16> %1254 to <16 x i32>
  br label %1208
1208:
  %1209 = phi <16 x i32> [ splat (i32 -6553701), %1178 ], [ %1207, %1206 ]
  %1210 = shl <16 x i32> %1209, splat (i32 16)
  %1211 = ashr exact <16 x i32> %1210, splat (i32 16)
  %1212 = ashr <16 x i32> %1209, splat (i32 16)
  %1213 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1211, <16 x i32> %1212)
  %1214 = call <16 x i32> @llvm.smax.v16i32(<16 x i32> %1213, <16 x i32> %1193)
  %1215 = load i32, ptr %938, align 4
  %1216 = insertelement <16 x i32> poison, i32 %1215, i64 0
  %1217 = shufflevector <16 x i32> %1216, <16 x i32> poison, <16 x i32> zeroinitializer
  %1218 = sub <16 x i32> %1217, %1214
  %1219 = shl <16 x i32> %1218, splat (i32 23)
  %1220 = add <16 x i32> %1219, splat (i32 1065353216)
  %1221 = bitcast <16 x i32> %1220 to <16 x float>
  %1222 = sub <16 x i32> %1214, %1217
  %1223 = shl <16 x i32> %1222, splat (i32 23)
  %1224 = add <16 x i32> %1223, splat (i32 1065353216)
  %1225 = bitcast <16 x i32> %1224 to <16 x float>
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %16)
  br i1 %1201, label %1269, label %1226
1226:
  %1227 = fmul <16 x float> %1202, %1221
  %1228 = fptosi <16 x float> %1227 to <16 x i32>
  br label %1257
1229:
  %1230 = phi <32 x i16> [ splat (i16 -101), %1203 ], [ %1254, %1248 ]
  %1231 = phi i32 [ 0, %1203 ], [ %1255, %1248 ]
  %1232 = add i32 %1231, %1183
  %1233 = shl i32 %1232, 1
  %1234 = add i32 %1231, %1179
  %1235 = select i1 %1205, i32 %1234, i32 %1233
  %1236 = lshr i32 %1235, 1
  %1237 = mul i32 %1236, %1167
  %1238 = zext i32 %1237 to i64
  br i1 %1177, label %1242, label %1239
1239:
  %1240 = getelementptr inbounds nuw i32, ptr %1166, i64 %1238
  %1241 = load <16 x i32>, ptr %1240, align 4
  br label %1248
1242:
  %1243 = zext nneg i32 %1236 to i64
  %1244 = getelementptr inbounds nuw i32, ptr %1166, i64 %1243
  %1245 = load i32, ptr %1244, align 4
  %1246 = insertelement <16 x i32> poison, i32 %1245, i64 0
  %1247 = shufflevector <16 x i32> %1246, <16 x i32> poison, <16 x i32> zeroinitializer
  br label %1248
1248:
  %1249 = phi <16 x i32> [ %1241, %1239 ], [ %1247, %1242 ]
  %1250 = getelementptr inbounds nuw i32, ptr %1163, i64 %1238
  %1251 = load <32 x i16>, ptr %1250, align 4
  %1252 = bitcast <16 x i32> %1249 to <32 x i16>
  %1253 = add <32 x i16> %1251, %1252
  %1254 = call <32 x i16> @llvm.smax.v32i16(<32 x i16> %1230, <32 x i16> %1253)
  %1255 = add nuw i32 %1231, 2
  %1256 = icmp ult i32 %1255, %1180
  br i1 %1256, label %1229, label %1206
1257:
  %1258 = phi i32 [ %1172, %1226 ], [ %1281, %1274 ]
  %1259 = phi i32 [ 0, %1226 ], [ %1262, %1274 ]
  %1260 = phi <16 x i32> [ %1228, %1226 ], [ zeroinitializer, %1274 ]
  %1261 = phi <16 x double> [ undef, %1226 ], [ %1279, %1274 ]
  %1262 = add i32 %1259, %1172
  %1263 = icmp ult i32 %1259, %1262
  br i1 %1263, label %1264, label %1274
1264:
  %1265 = load i32, ptr %937, align 4
  %1266 = icmp eq i32 %1265, 0
  br label %1282
1267:
  %1268 = bitcast <16 x double> %1279 to <16 x i64>
  br label %1269
1269:
  %1270 = phi <16 x i64> [ %1268, %1267 ], [ undef, %1208 ]
  %1271 = phi <16 x double> [ %1279, %1267 ], [ undef, %1208 ]
  %1272 = load i32, ptr %941, align 4
  %1273 = icmp eq i32 %1272, 0
  br i1 %1273, label %1322, label %1319
1274:
  %1275 = phi <16 x i32> [ %1260, %1257 ], [ %1316, %1308 ]
  %1276 = sitofp <16 x i32> %1275 to <16 x double>
  %1277 = icmp eq i32 %1259, 0
  %1278 = select i1 %1277, <16 x double> splat (double -0.000000e+00), <16 x double> %1261
  %1279 = fadd <16 x double> %1278, %1276
  %1280 = icmp ult i32 %1262, %1180
  %1281 = add i32 %1258, %1172
  br i1 %1280, label %1257, label %1267
1282:
  %1283 = phi i32 [ %1259, %1264 ], [ %1317, %1308 ]
  %1284 = phi <16 x i32> [ %1260, %1264 ], [ %1316, %1308 ]
  br i1 %1266, label %1291, label %1285
1285:
  %1286 = and i32 %1283, 2147483646
  %1287 = add i32 %1286, %1183
  %1288 = shl i32 %1287, 1
  %1289 = and i32 %1283, 1
  %1290 = or disjoint i32 %1288, %1289
  br label %1293
1291:
  %1292 = add i32 %1283, %1179
  br label %1293
1293:
  %1294 = phi i32 [ %1290, %1285 ], [ %1292, %1291 ]
  br i1 %1177, label %1300, label %1295
1295:
  %1296 = mul i32 %1294, %1167
  %1297 = zext i32 %1296 to i64
  %1298 = getelementptr inbounds nuw float, ptr %1165, i64 %1297
  %1299 = load <16 x float>, ptr %1298, align 4
  br label %1308
1300:
  %1301 = zext i32 %1294 to i64
  %1302 = getelementptr inbounds nuw float, ptr %1165, i64 %1301
  %1303 = load float, ptr %1302, align 4
  %1304 = insertelement <16 x float> poison, float %1303, i64 0
  %1305 = shufflevector <16 x float> %1304, <16 x float> poison, <16 x i32> zeroinitializer
  %1306 = mul i32 %1294, %1167
  %1307 = zext i32 %1306 to i64
  br label %1308
1308:
  %1309 = phi i64 [ %1307, %1300 ], [ %1297, %1295 ]
  %1310 = phi <16 x float> [ %1305, %1300 ], [ %1299, %1295 ]
  %1311 = getelementptr inbounds nuw float, ptr %1162, i64 %1309
  %1312 = load <16 x float>, ptr %1311, align 4
  %1313 = fmul <16 x float> %1310, %1312
  %1314 = fmul <16 x float> %1313, %1221
  %1315 = fptosi <16 x float> %1314 to <16 x i32>
  %1316 = add <16 x i32> %1284, %1315
  %1317 = add nuw i32 %1283, 1
  %1318 = icmp eq i32 %1317, %1258
  br i1 %1318, label %1274, label %1282
1319:
  %1320 = fpext <16 x float> %1225 to <16 x double>
  %1321 = fmul <16 x double> %1271, %1320
  store <16 x double> %1321, ptr %16, align 8
  call void %11(ptr nonnull %16, ptr nonnull %1151)
  br label %1334
1322:
  %1323 = icmp slt i32 %1215, 23
  %1324 = sub nsw i32 52, %1215
  %1325 = zext nneg i32 %1324 to i64
  %1326 = shl nsw i64 -1, %1325
  %1327 = select i1 %1323, i64 %1326, i64 -536870912
  %1328 = insertelement <16 x i64> poison, i64 %1327, i64 0
  %1329 = shufflevector <16 x i64> %1328, <16 x i64> poison, <16 x i32> zeroinitializer
  %1330 = and <16 x i64> %1270, %1329
  %1331 = bitcast <16 x i64> %1330 to <16 x double>
  %1332 = fptrunc <16 x double> %1331 to <16 x float>
  %1333 = fmul <16 x float> %1225, %1332
  store <16 x float> %1333, ptr %1151, align 4
  br label %1334
1334:
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %16)
  %1335 = add i32 %1183, 1
  %1336 = load i32, ptr %939, align 4
  %1337 = mul i32 %1336, %1335
  %1338 = load i32, ptr %781, align 4
  %1339 = icmp ult i32 %1337, %1338
  br i1 %1339, label %1178, label %1340
1340:
  %1341 = phi <16 x i32> [ zeroinitializer, %1160 ], [ %1200, %1334 ]
  %1342 = or <16 x i32> %1341, %1149
  %1343 = add i32 %1148, 16
  %1344 = icmp ult i32 %1343, %775
  br i1 %1344, label %1147, label %1142
1345:
  call void @llvm.lifetime.start.p0(i64 128, ptr nonnull %26)
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(128) %26, i8 0, i64 128, i1 false)
  %1346 = icmp eq i32 %1146, 0
  %1347 = select i1 %1346, ptr %946, ptr %26
  call void %13(ptr nonnull %20, ptr nonnull %21, ptr %1347, ptr %947)
  call void @llvm.lifetime.end.p0(i64 128, ptr nonnull %26)
  %1348 = load i32, ptr %937, align 4
  br label %1349
1349:
  %1350 = phi i32 [ %1348, %1345 ], [ %1146, %1142 ]
  %1351 = icmp ne i32 %1350, 0
  %1352 = and i1 %1351, %943
  br i1 %1352, label %1362, label %1353
1353:
  %1354 = add nuw i32 %948, 1
  %1355 = load i32, ptr %32, align 4
  %1356 = zext i32 %1355 to i64
  %1357 = getelementptr inbounds nuw i32, ptr %945, i64 %1356
  %1358 = getelementptr inbounds nuw float, ptr %946, i64 %934
  %1359 = getelementptr inbounds nuw float, ptr %947, i64 %934
  %1360 = load i32, ptr %146, align 4
  %1361 = icmp ult i32 %1354, %1360
  br i1 %1361, label %944, label %1372
1362:
  %1363 = phi i32 [ %1367, %1362 ], [ 0, %1349 ]
  %1364 = zext i32 %1363 to i64
  %1365 = getelementptr inbounds nuw float, ptr %947, i64 %1364
  %1366 = getelementptr inbounds nuw float, ptr %946, i64 %1364
  call void %12(ptr %1365, ptr %1366)
  %1367 = add i32 %1363, 16
  %1368 = load i32, ptr %937, align 4
  %1369 = icmp ne i32 %1368, 0
  %1370 = icmp ult i32 %1367, %775
  %1371 = and i1 %1369, %1370
  br i1 %1371, label %1362, label %1353
1372:
  %1373 = phi i32 [ 0, %928 ], [ %1360, %1353 ]
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %25)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %24)
  call void @llvm.lifetime.end.p0(i64 1024, ptr nonnull %23)
  call void @llvm.lifetime.end.p0(i64 1024, ptr nonnull %22)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %21)
  call void @llvm.lifetime.end.p0(i64 2048, ptr nonnull %20)
  br label %1376
1374:
  %1375 = load i32, ptr %146, align 4
  br label %1376
1376:
  %1377 = phi i32 [ %1375, %1374 ], [ 0, %313 ], [ 0, %373 ], [ %773, %772 ], [ %1373, %1372 ], [ %331, %330 ]
  %1378 = lshr i32 %1377, 3
  %1379 = load i32, ptr %3, align 4
  %1380 = lshr i32 %1379, 3
  %1381 = mul i32 %1380, %1378
  %1382 = icmp eq i32 %1381, 0
  br i1 %1382, label %1534, label %1383
1383:
  %1384 = getelementptr inbounds nuw i8, ptr %3, i64 56
  %1385 = getelementptr inbounds nuw i8, ptr %3, i64 144
  br label %1386
1386:
  %1387 = phi i32 [ %1379, %1383 ], [ %1529, %1528 ]
  %1388 = phi i32 [ 0, %1383 ], [ %1530, %1528 ]
  %1389 = icmp ugt i32 %1387, 8
  %1390 = zext i1 %1389 to i32
  %1391 = shl nuw nsw i32 %1378, %1390
  %1392 = udiv i32 %1388, %1391
  %1393 = shl i32 %1392, %1390
  %1394 = and i32 %1388, 1
  %1395 = select i1 %1389, i32 %1394, i32 0
  %1396 = add i32 %1393, %1395
  %1397 = shl i32 %1396, 3
  %1398 = lshr i32 %1388, %1390
  %1399 = urem i32 %1398, %1378
  %1400 = shl i32 %1387, 3
  %1401 = mul i32 %1400, %1399
  %1402 = add i32 %1401, %1397
  %1403 = shl i32 %1387, 1
  %1404 = zext i32 %1402 to i64
  %1405 = getelementptr inbounds nuw i32, ptr %7, i64 %1404
  %1406 = load i32, ptr %1384, align 4
  %1407 = icmp eq i32 %1406, 0
  br i1 %1407, label %1408, label %1415
1408:
  %1409 = shl i32 %1388, 1
  %1410 = zext i32 %1403 to i64
  %1411 = shl i32 %1387, 2
  %1412 = zext i32 %1411 to i64
  %1413 = mul i32 %1387, 6
  %1414 = zext i32 %1413 to i64
  br label %1479
1415:
  %1416 = load <8 x float>, ptr %1405, align 4
  %1417 = fptrunc <8 x float> %1416 to <8 x half>
  %1418 = bitcast <8 x half> %1417 to <8 x i16>
  %1419 = zext <8 x i16> %1418 to <8 x i32>
  %1420 = zext i32 %1387 to i64
  %1421 = getelementptr inbounds nuw i32, ptr %1405, i64 %1420
  %1422 = load <8 x float>, ptr %1421, align 4
  %1423 = fptrunc <8 x float> %1422 to <8 x half>
  %1424 = bitcast <8 x half> %1423 to <8 x i16>
  %1425 = zext <8 x i16> %1424 to <8 x i32>
  %1426 = shl nuw <8 x i32> %1425, splat (i32 16)
  %1427 = or disjoint <8 x i32> %1426, %1419
  %1428 = zext i32 %1403 to i64
  %1429 = getelementptr inbounds nuw i32, ptr %1405, i64 %1428
  %1430 = load <8 x float>, ptr %1429, align 4
  %1431 = fptrunc <8 x float> %1430 to <8 x half>
  %1432 = bitcast <8 x half> %1431 to <8 x i16>
  %1433 = zext <8 x i16> %1432 to <8 x i32>
  %1434 = getelementptr inbounds nuw i32, ptr %1421, i64 %1428
  %1435 = load <8 x float>, ptr %1434, align 4
  %1436 = fptrunc <8 x float> %1435 to <8 x half>
  %1437 = bitcast <8 x half> %1436 to <8 x i16>
  %1438 = zext <8 x i16> %1437 to <8 x i32>
  %1439 = shl nuw <8 x i32> %1438, splat (i32 16)
  %1440 = or disjoint <8 x i32> %1439, %1433
  %1441 = shufflevector <8 x i32> %1427, <8 x i32> %1440, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1442 = shl i32 %1387, 2
  %1443 = zext i32 %1442 to i64
  %1444 = getelementptr inbounds nuw i32, ptr %1405, i64 %1443
  %1445 = load <8 x float>, ptr %1444, align 4
  %1446 = fptrunc <8 x float> %1445 to <8 x half>
  %1447 = bitcast <8 x half> %1446 to <8 x i16>
  %1448 = zext <8 x i16> %1447 to <8 x i32>
  %1449 = getelementptr inbounds nuw i32, ptr %1421, i64 %1443
  %1450 = load <8 x float>, ptr %1449, align 4
  %1451 = fptrunc <8 x float> %1450 to <8 x half>
  %1452 = bitcast <8 x half> %1451 to <8 x i16>
  %1453 = zext <8 x i16> %1452 to <8 x i32>
  %1454 = shl nuw <8 x i32> %1453, splat (i32 16)
  %1455 = or disjoint <8 x i32> %1454, %1448
  %1456 = mul i32 %1387, 6
  %1457 = zext i32 %1456 to i64
  %1458 = getelementptr inbounds nuw i32, ptr %1405, i64 %1457
  %1459 = load <8 x float>, ptr %1458, align 4
  %1460 = fptrunc <8 x float> %1459 to <8 x half>
  %1461 = bitcast <8 x half> %1460 to <8 x i16>
  %1462 = zext <8 x i16> %1461 to <8 x i32>
  %1463 = getelementptr inbounds nuw i32, ptr %1421, i64 %1457
  %1464 = load <8 x float>, ptr %1463, align 4
  %1465 = fptrunc <8 x float> %1464 to <8 x half>
  %1466 = bitcast <8 x half> %1465 to <8 x i16>
  %1467 = zext <8 x i16> %1466 to <8 x i32>
  %1468 = shl nuw <8 x i32> %1467, splat (i32 16)
  %1469 = or disjoint <8 x i32> %1468, %1462
  %1470 = shufflevector <8 x i32> %1455, <8 x i32> %1469, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1471 = shufflevector <16 x i32> %1441, <16 x i32> %1470, <32 x i32> <i32 0, i32 1, i32 16, i32 17, i32 2, i32 3, i32 18, i32 19, i32 4, i32 5, i32 20, i32 21, i32 6, i32 7, i32 22, i32 23, i32 8, i32 9, i32 24, i32 25, i32 10, i32 11, i32 26, i32 27, i32 12, i32 13, i32 28, i32 29, i32 14, i32 15, i32 30, i32 31>
  %1472 = load ptr, ptr %35, align 8
  %1473 = load i32, ptr %1385, align 4
  %1474 = add i32 %1473, %1388
  %1475 = shl i32 %1474, 9
  %1476 = zext i32 %1475 to i64
  %1477 = getelementptr inbounds nuw i8, ptr %1472, i64 %1476
  store <32 x i32> %1471, ptr %1477, align 4
  %1478 = load i32, ptr %3, align 4
  br label %1528
1479:
  %1480 = phi i1 [ true, %1408 ], [ false, %1523 ]
  %1481 = phi i32 [ 0, %1408 ], [ 1, %1523 ]
  %1482 = phi ptr [ %1405, %1408 ], [ %1526, %1523 ]
  %1483 = phi i32 [ %1402, %1408 ], [ %1527, %1523 ]
  %1484 = load i32, ptr %1385, align 4
  %1485 = or disjoint i32 %1481, %1409
  %1486 = add i32 %1485, %1484
  %1487 = load i32, ptr %310, align 4
  %1488 = icmp eq i32 %1487, 0
  br i1 %1488, label %1508, label %1489
1489:
  %1490 = shl i32 %1486, 9
  %1491 = zext i32 %1490 to i64
  br label %1492
1492:
  %1493 = phi i64 [ 0, %1489 ], [ %1506, %1492 ]
  %1494 = trunc nuw nsw i64 %1493 to i32
  %1495 = and i32 %1494, 3
  %1496 = mul i32 %1495, %1403
  %1497 = lshr i32 %1494, 2
  %1498 = add i32 %1497, %1483
  %1499 = add i32 %1498, %1496
  %1500 = zext i32 %1499 to i64
  %1501 = getelementptr inbounds nuw i64, ptr %7, i64 %1500
  %1502 = load i64, ptr %1501, align 8
  %1503 = load ptr, ptr %35, align 8
  %1504 = getelementptr inbounds nuw i8, ptr %1503, i64 %1491
  %1505 = getelementptr inbounds nuw i64, ptr %1504, i64 %1493
  store i64 %1502, ptr %1505, align 8
  %1506 = add nuw nsw i64 %1493, 1
  %1507 = icmp eq i64 %1506, 32
  br i1 %1507, label %1523, label %1492
1508:
  %1509 = getelementptr inbounds nuw i32, ptr %1482, i64 %1410
  %1510 = getelementptr inbounds nuw i32, ptr %1482, i64 %1412
  %1511 = getelementptr inbounds nuw i32, ptr %1482, i64 %1414
  %1512 = load <8 x i32>, ptr %1482, align 4
  %1513 = load <8 x i32>, ptr %1509, align 4
  %1514 = shufflevector <8 x i32> %1512, <8 x i32> %1513, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1515 = load <8 x i32>, ptr %1510, align 4
  %1516 = load <8 x i32>, ptr %1511, align 4
  %1517 = shufflevector <8 x i32> %1515, <8 x i32> %1516, <16 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11, i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %1518 = shufflevector <16 x i32> %1514, <16 x i32> %1517, <32 x i32> <i32 0, i32 1, i32 16, i32 17, i32 2, i32 3, i32 18, i32 19, i32 4, i32 5, i32 20, i32 21, i32 6, i32 7, i32 22, i32 23, i32 8, i32 9, i32 24, i32 25, i32 10, i32 11, i32 26, i32 27, i32 12, i32 13, i32 28, i32 29, i32 14, i32 15, i32 30, i32 31>
  %1519 = load ptr, ptr %35, align 8
  %1520 = shl i32 %1486, 9
  %1521 = zext i32 %1520 to i64
  %1522 = getelementptr inbounds nuw i8, ptr %1519, i64 %1521
  store <32 x i32> %1518, ptr %1522, align 4
  br label %1523
1523:
  %1524 = load i32, ptr %3, align 4
  %1525 = zext i32 %1524 to i64
  %1526 = getelementptr inbounds nuw i32, ptr %1482, i64 %1525
  %1527 = add i32 %1524, %1483
  br i1 %1480, label %1479, label %1528
1528:
  %1529 = phi i32 [ %1478, %1415 ], [ %1524, %1523 ]
  %1530 = add nuw i32 %1388, 1
  %1531 = lshr i32 %1529, 3
  %1532 = mul i32 %1531, %1378
  %1533 = icmp ult i32 %1530, %1532
  br i1 %1533, label %1386, label %1534
1534:
  %1535 = phi i32 [ 0, %142 ], [ 1, %1376 ], [ 1, %1528 ]
  ret i32 %1535
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
  %8 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %9 = load ptr, ptr %8, align 8
  %10 = shl i32 %6, 4
  %11 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %12 = icmp ne i32 %11, 0
  %13 = icmp ne ptr %9, null
  %14 = and i1 %13, %12
  %15 = icmp ne i32 %10, 0
  %16 = and i1 %14, %15
  br i1 %16, label %17, label %32
17:
  %18 = getelementptr i8, ptr %9, i64 %4
  %19 = zext i32 %10 to i64
  br label %20
20:
  %21 = phi i64 [ 0, %17 ], [ %28, %20 ]
  %22 = phi i32 [ 0, %17 ], [ %27, %20 ]
  %23 = getelementptr i8, ptr %18, i64 %21
  %24 = load i8, ptr %23, align 1
  %25 = icmp ne i8 %24, 0
  %26 = zext i1 %25 to i32
  %27 = or i32 %22, %26
  %28 = add nuw nsw i64 %21, 1
  %29 = icmp samesign ult i64 %28, %19
  br i1 %29, label %20, label %30
30:
  %31 = zext nneg i32 %27 to i64
  br label %32
32:
  %33 = phi i64 [ 0, %7 ], [ %31, %30 ]
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %35 = load i64, ptr %34, align 8
  %36 = or i64 %35, %33
  store i64 %36, ptr %34, align 8
  %37 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %38 = load ptr, ptr %37, align 8
  %39 = icmp eq ptr %38, null
  br i1 %39, label %124, label %40
40:
  %41 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %42 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %43 = load i32, ptr %42, align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %46 = load i64, ptr %45, align 8
  %47 = xor i64 %46, %44
  %48 = or i64 %47, %36
  store i64 %48, ptr %34, align 8
  %49 = udiv i32 8, %41
  %50 = zext nneg i32 %49 to i64
  %51 = mul i64 %4, %50
  %52 = getelementptr inbounds nuw i8, ptr %38, i64 %51
  %53 = icmp ugt i32 %41, %6
  br i1 %53, label %77, label %54
54:
  %55 = udiv i32 %6, %41
  %56 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %57 = load i64, ptr %56, align 8
  %58 = zext i32 %2 to i64
  %59 = shl nuw nsw i64 %58, 25
  %60 = or i64 %57, %59
  %61 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %62 = load i32, ptr %61, align 4
  %63 = zext i32 %62 to i64
  %64 = shl nuw nsw i64 %63, 15
  %65 = or i64 %60, %64
  %66 = mul i32 %55, %5
  %67 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %55, i1 true)
  %68 = insertelement <16 x i32> poison, i32 %67, i64 0
  %69 = shufflevector <16 x i32> %68, <16 x i32> poison, <16 x i32> zeroinitializer
  %70 = zext nneg <16 x i32> %69 to <16 x i64>
  %71 = insertelement <16 x i64> poison, i64 %65, i64 0
  %72 = shufflevector <16 x i64> %71, <16 x i64> poison, <16 x i32> zeroinitializer
  %73 = or <16 x i64> %72, splat (i64 73)
  %74 = zext i32 %55 to i64
  br label %82
75:
  %76 = load i64, ptr %34, align 8
  br label %77
77:
  %78 = phi i64 [ %48, %40 ], [ %76, %75 ]
  %79 = phi <16 x i64> [ zeroinitializer, %40 ], [ %121, %75 ]
  %80 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %79)
  %81 = or i64 %78, %80
  store i64 %81, ptr %34, align 8
  br label %124
82:
  %83 = phi i64 [ 0, %54 ], [ %122, %82 ]
  %84 = phi <16 x i64> [ zeroinitializer, %54 ], [ %121, %82 ]
  %85 = trunc nuw i64 %83 to i32
  %86 = add i32 %66, %85
  %87 = shl i32 %86, 4
  %88 = zext i32 %87 to i64
  %89 = insertelement <16 x i64> poison, i64 %88, i64 0
  %90 = shufflevector <16 x i64> %89, <16 x i64> poison, <16 x i32> zeroinitializer
  %91 = or disjoint <16 x i64> %90, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %92 = lshr <16 x i64> %91, %70
  %93 = shl nuw nsw <16 x i64> %92, splat (i64 9)
  %94 = getelementptr inbounds nuw <16 x i64>, ptr %52, i64 %83
  %95 = load <16 x i64>, ptr %94, align 8
  %96 = or <16 x i64> %93, %72
  %97 = xor <16 x i64> %95, %96
  %98 = and <16 x i64> %95, splat (i64 16384)
  %99 = or <16 x i64> %97, %98
  %100 = icmp ugt <16 x i64> %97, splat (i64 140737488355327)
  %101 = select <16 x i1> %100, <16 x i64> splat (i64 -140737488354944), <16 x i64> zeroinitializer
  %102 = icmp ult <16 x i64> %97, splat (i64 2147483648)
  %103 = select <16 x i1> %102, <16 x i64> splat (i64 1073741872), <16 x i64> %101
  %104 = icmp ugt <16 x i64> %97, splat (i64 33554431)
  %105 = select <16 x i1> %104, <16 x i64> %103, <16 x i64> zeroinitializer
  %106 = icmp ult <16 x i64> %97, splat (i64 32768)
  %107 = select <16 x i1> %106, <16 x i64> splat (i64 16390), <16 x i64> %105
  %108 = icmp ugt <16 x i64> %99, splat (i64 511)
  %109 = select <16 x i1> %108, <16 x i64> %107, <16 x i64> zeroinitializer
  %110 = icmp eq <16 x i64> %95, zeroinitializer
  %111 = select <16 x i1> %110, <16 x i64> zeroinitializer, <16 x i64> %109
  %112 = select <16 x i1> %102, <16 x i64> splat (i64 432), <16 x i64> splat (i64 384)
  %113 = select <16 x i1> %106, <16 x i64> splat (i64 438), <16 x i64> %112
  %114 = and <16 x i64> %95, splat (i64 511)
  %115 = and <16 x i64> %114, %111
  %116 = and <16 x i64> %113, %95
  %117 = and <16 x i64> %111, splat (i64 -512)
  %118 = or <16 x i64> %73, %116
  %119 = or <16 x i64> %118, %117
  %120 = or <16 x i64> %119, %93
  store <16 x i64> %120, ptr %94, align 8
  %121 = or <16 x i64> %115, %84
  %122 = add nuw nsw i64 %83, 1
  %123 = icmp samesign ult i64 %122, %74
  br i1 %123, label %82, label %75
124:
  ret void
}

define internal void @write_row(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i64 %5, i32 %6) noinline #0 {
  %8 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %9 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  br i1 %11, label %142, label %12
12:
  %13 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %14 = load i32, ptr %13, align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %17 = load i64, ptr %16, align 8
  %18 = xor i64 %17, %15
  %19 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %20 = load i64, ptr %19, align 8
  %21 = or i64 %20, %18
  store i64 %21, ptr %19, align 8
  %22 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %23 = load i64, ptr %22, align 8
  %24 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %25 = load i32, ptr %24, align 4
  %26 = zext i32 %25 to i64
  %27 = shl nuw nsw i64 %26, 15
  %28 = zext i32 %2 to i64
  %29 = shl nuw nsw i64 %28, 25
  %30 = or i64 %23, %29
  %31 = or i64 %30, %27
  %32 = udiv i32 8, %8
  %33 = zext nneg i32 %32 to i64
  %34 = mul i64 %5, %33
  %35 = getelementptr inbounds nuw i8, ptr %10, i64 %34
  %36 = getelementptr inbounds nuw i8, ptr %4, i64 %5
  %37 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %38 = load ptr, ptr %37, align 8
  %39 = ptrtoint ptr %36 to i64
  %40 = ptrtoint ptr %38 to i64
  %41 = sub i64 %39, %40
  %42 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %43 = load i64, ptr %42, align 8
  %44 = icmp ult i64 %41, %43
  br i1 %44, label %45, label %70
45:
  %46 = shl i32 %8, 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %49 = load i32, ptr %48, align 4
  %50 = or i32 %49, 1
  store i32 %50, ptr %48, align 4
  %51 = add nsw i64 %47, -1
  %52 = add i64 %51, %41
  %53 = trunc i64 %43 to i32
  %54 = add i32 %53, -1
  %55 = lshr i32 %54, 6
  %56 = or i32 %55, 15
  %57 = tail call range(i32 6, 29) i32 @llvm.ctlz.i32(i32 %56, i1 true)
  %58 = sub nuw nsw i32 32, %57
  %59 = zext nneg i32 %58 to i64
  %60 = lshr i64 %52, %59
  %61 = shl i64 2, %60
  %62 = lshr i64 %41, %59
  %63 = shl nsw i64 -1, %62
  %64 = add i64 %63, %61
  %65 = getelementptr inbounds nuw i8, ptr %0, i64 344
  %66 = load i64, ptr %65, align 8
  %67 = and i64 %66, %64
  %68 = load i64, ptr %19, align 8
  %69 = or i64 %68, %67
  store i64 %69, ptr %19, align 8
  br label %70
70:
  %71 = insertelement <16 x i64> poison, i64 %31, i64 0
  %72 = shufflevector <16 x i64> %71, <16 x i64> poison, <16 x i32> zeroinitializer
  %73 = or <16 x i64> %72, splat (i64 146)
  %74 = shl i32 %6, 4
  %75 = zext i32 %74 to i64
  %76 = insertelement <16 x i64> poison, i64 %75, i64 0
  %77 = shufflevector <16 x i64> %76, <16 x i64> poison, <16 x i32> zeroinitializer
  %78 = or disjoint <16 x i64> %77, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %79 = shl nuw nsw <16 x i64> %78, splat (i64 9)
  %80 = load <16 x i64>, ptr %35, align 8
  %81 = and <16 x i64> %80, splat (i64 146)
  %82 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %81)
  %83 = icmp eq i64 %82, 0
  br i1 %83, label %112, label %84
84:
  %85 = mul i32 %6, %8
  %86 = shl i32 %85, 4
  %87 = zext i32 %86 to i64
  %88 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %89 = load ptr, ptr %88, align 8
  %90 = getelementptr inbounds nuw i8, ptr %89, i64 %87
  switch i32 %8, label %107 [
    i32 1, label %91
    i32 2, label %95
    i32 4, label %99
    i32 8, label %103
  ]
91:
  %92 = load <16 x i8>, ptr %36, align 1
  %93 = load <16 x i8>, ptr %90, align 1
  %94 = icmp ne <16 x i8> %92, %93
  br label %107
95:
  %96 = load <16 x i16>, ptr %36, align 1
  %97 = load <16 x i16>, ptr %90, align 1
  %98 = icmp ne <16 x i16> %96, %97
  br label %107
99:
  %100 = load <16 x i32>, ptr %36, align 1
  %101 = load <16 x i32>, ptr %90, align 1
  %102 = icmp ne <16 x i32> %100, %101
  br label %107
103:
  %104 = load <16 x i64>, ptr %36, align 1
  %105 = load <16 x i64>, ptr %90, align 1
  %106 = icmp ne <16 x i64> %104, %105
  br label %107
107:
  %108 = phi <16 x i1> [ zeroinitializer, %84 ], [ %106, %103 ], [ %102, %99 ], [ %98, %95 ], [ %94, %91 ]
  %109 = lshr exact <16 x i64> %81, splat (i64 1)
  %110 = select <16 x i1> %108, <16 x i64> %109, <16 x i64> zeroinitializer
  %111 = or <16 x i64> %110, %80
  br label %112
112:
  %113 = phi <16 x i64> [ %111, %107 ], [ %80, %70 ]
  %114 = or <16 x i64> %79, %72
  %115 = xor <16 x i64> %113, %114
  %116 = and <16 x i64> %113, splat (i64 16384)
  %117 = or <16 x i64> %115, %116
  %118 = icmp ugt <16 x i64> %115, splat (i64 140737488355327)
  %119 = select <16 x i1> %118, <16 x i64> splat (i64 -140737488355008), <16 x i64> zeroinitializer
  %120 = icmp ult <16 x i64> %115, splat (i64 2147483648)
  %121 = select <16 x i1> %120, <16 x i64> splat (i64 1073741864), <16 x i64> %119
  %122 = icmp ugt <16 x i64> %115, splat (i64 33554431)
  %123 = select <16 x i1> %122, <16 x i64> %121, <16 x i64> zeroinitializer
  %124 = icmp ult <16 x i64> %115, splat (i64 32768)
  %125 = select <16 x i1> %124, <16 x i64> splat (i64 16389), <16 x i64> %123
  %126 = icmp ugt <16 x i64> %117, splat (i64 511)
  %127 = select <16 x i1> %126, <16 x i64> %125, <16 x i64> zeroinitializer
  %128 = icmp eq <16 x i64> %113, zeroinitializer
  %129 = select <16 x i1> %128, <16 x i64> zeroinitializer, <16 x i64> %127
  %130 = select <16 x i1> %120, <16 x i64> splat (i64 360), <16 x i64> splat (i64 320)
  %131 = select <16 x i1> %124, <16 x i64> splat (i64 365), <16 x i64> %130
  %132 = and <16 x i64> %113, splat (i64 511)
  %133 = and <16 x i64> %132, %129
  %134 = and <16 x i64> %131, %113
  %135 = and <16 x i64> %129, splat (i64 -512)
  %136 = or <16 x i64> %73, %134
  %137 = or <16 x i64> %136, %135
  %138 = or <16 x i64> %137, %79
  store <16 x i64> %138, ptr %35, align 8
  %139 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %133)
  %140 = load i64, ptr %19, align 8
  %141 = or i64 %140, %139
  store i64 %141, ptr %19, align 8
  br label %142
142:
  ret void
}

define internal void @read_uniform(ptr %0, ptr %1, i32 %2, ptr %3, i64 %4, i32 %5, i32 %6) noinline #0 {
  %8 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %9 = load ptr, ptr %8, align 8
  %10 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
  %11 = icmp ne i32 %10, 0
  %12 = icmp ne ptr %9, null
  %13 = and i1 %12, %11
  %14 = icmp ne i32 %6, 0
  %15 = and i1 %13, %14
  br i1 %15, label %16, label %31
16:
  %17 = getelementptr i8, ptr %9, i64 %4
  %18 = zext i32 %6 to i64
  br label %19
19:
  %20 = phi i64 [ 0, %16 ], [ %27, %19 ]
  %21 = phi i32 [ 0, %16 ], [ %26, %19 ]
  %22 = getelementptr i8, ptr %17, i64 %20
  %23 = load i8, ptr %22, align 1
  %24 = icmp ne i8 %23, 0
  %25 = zext i1 %24 to i32
  %26 = or i32 %21, %25
  %27 = add nuw nsw i64 %20, 1
  %28 = icmp samesign ult i64 %27, %18
  br i1 %28, label %19, label %29
29:
  %30 = zext nneg i32 %26 to i64
  br label %31
31:
  %32 = phi i64 [ 0, %7 ], [ %30, %29 ]
  %33 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %34 = load i64, ptr %33, align 8
  %35 = or i64 %34, %32
  store i64 %35, ptr %33, align 8
  %36 = getelementptr inbounds nuw i8, ptr %3, i64 64
  %37 = load ptr, ptr %36, align 8
  %38 = icmp eq ptr %37, null
  br i1 %38, label %105, label %39
39:
  %40 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %41 = udiv i32 8, %40
  %42 = zext nneg i32 %41 to i64
  %43 = mul i64 %4, %42
  %44 = getelementptr inbounds nuw i8, ptr %37, i64 %43
  %45 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %49 = load i64, ptr %48, align 8
  %50 = xor i64 %49, %47
  %51 = or i64 %50, %35
  store i64 %51, ptr %33, align 8
  %52 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %53 = load i64, ptr %52, align 8
  %54 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %55 = load i32, ptr %54, align 4
  %56 = zext i32 %55 to i64
  %57 = shl nuw nsw i64 %56, 15
  %58 = zext i32 %2 to i64
  %59 = shl nuw nsw i64 %58, 25
  %60 = or i64 %59, %53
  %61 = or i64 %60, %57
  %62 = or i64 %61, 16384
  %63 = icmp ugt i32 %40, %6
  br i1 %63, label %101, label %64
64:
  %65 = udiv i32 %6, %40
  %66 = zext i32 %65 to i64
  %67 = or i64 %61, 16457
  br label %68
68:
  %69 = phi i64 [ 0, %64 ], [ %97, %68 ]
  %70 = phi i64 [ 0, %64 ], [ %96, %68 ]
  %71 = getelementptr inbounds nuw i64, ptr %44, i64 %69
  %72 = load i64, ptr %71, align 8
  %73 = xor i64 %72, %62
  %74 = icmp ult i64 %73, 140737488355328
  %75 = select i1 %74, i64 0, i64 -140737488354944
  %76 = icmp ult i64 %73, 2147483648
  %77 = select i1 %76, i64 1073741872, i64 %75
  %78 = icmp ult i64 %73, 32768
  %79 = icmp ult i64 %73, 33554432
  %80 = select i1 %79, i64 0, i64 %77
  %81 = select i1 %78, i64 16390, i64 %80
  %82 = and i64 %72, 16384
  %83 = or i64 %73, %82
  %84 = icmp ult i64 %83, 512
  %85 = icmp eq i64 %72, 0
  %86 = or i1 %85, %84
  %87 = select i1 %86, i64 0, i64 %81
  %88 = select i1 %76, i64 432, i64 384
  %89 = select i1 %78, i64 438, i64 %88
  %90 = and i64 %72, 438
  %91 = and i64 %90, %87
  %92 = and i64 %89, %72
  %93 = and i64 %87, -140736414613504
  %94 = or disjoint i64 %92, %93
  %95 = or i64 %94, %67
  store i64 %95, ptr %71, align 8
  %96 = or i64 %91, %70
  %97 = add nuw nsw i64 %69, 1
  %98 = icmp samesign ult i64 %97, %66
  br i1 %98, label %68, label %99
99:
  %100 = load i64, ptr %33, align 8
  br label %101
101:
  %102 = phi i64 [ %51, %39 ], [ %100, %99 ]
  %103 = phi i64 [ 0, %39 ], [ %96, %99 ]
  %104 = or i64 %102, %103
  store i64 %104, ptr %33, align 8
  br label %105
105:
  ret void
}

define internal i32 @record_accesses(ptr %0, ptr %1, i32 %2, ptr %3, ptr %4, i32 %5, i64 %6, i32 %7, i32 %8, i32 %9) noinline #0 {
  %11 = alloca [2 x <16 x i64>], align 16
  %12 = getelementptr inbounds nuw i8, ptr %0, i64 40
  %13 = load ptr, ptr %12, align 8
  %14 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 112), align 4
  %15 = udiv i32 8, %14
  %16 = zext nneg i32 %15 to i64
  %17 = getelementptr inbounds nuw i8, ptr %13, i64 512
  %18 = getelementptr inbounds nuw i8, ptr %1, i64 60
  %19 = load i32, ptr %18, align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds nuw i8, ptr %0, i64 360
  %22 = load i64, ptr %21, align 8
  %23 = xor i64 %22, %20
  %24 = getelementptr inbounds nuw i8, ptr %0, i64 208
  %25 = load i64, ptr %24, align 8
  %26 = or i64 %25, %23
  store i64 %26, ptr %24, align 8
  %27 = getelementptr inbounds nuw i8, ptr %0, i64 200
  %28 = load i64, ptr %27, align 8
  %29 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = shl nuw nsw i64 %31, 15
  %33 = zext i32 %2 to i64
  %34 = shl nuw nsw i64 %33, 25
  %35 = or i64 %28, %34
  %36 = or i64 %35, %32
  %37 = udiv i32 %7, %14
  %38 = mul i64 %6, %16
  %39 = getelementptr inbounds nuw i8, ptr %3, i64 %38
  %40 = icmp eq i32 %8, 1
  %41 = icmp eq i32 %5, 0
  %42 = or i1 %40, %41
  %43 = getelementptr inbounds nuw i8, ptr %11, i64 128
  %44 = getelementptr inbounds nuw i8, ptr %11, i64 128
  br i1 %42, label %91, label %45
45:
  %46 = getelementptr inbounds nuw i8, ptr %0, i64 80
  %47 = getelementptr inbounds nuw i8, ptr %0, i64 144
  %48 = zext i32 %7 to i64
  %49 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %50 = add nsw i64 %48, -1
  %51 = getelementptr inbounds nuw i8, ptr %0, i64 344
  br label %52
52:
  %53 = phi i64 [ %26, %45 ], [ %87, %86 ]
  %54 = phi i32 [ %5, %45 ], [ %89, %86 ]
  %55 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %54, i1 true)
  %56 = zext nneg i32 %55 to i64
  %57 = getelementptr inbounds nuw i64, ptr %13, i64 %56
  %58 = load i64, ptr %57, align 8
  %59 = getelementptr inbounds nuw i8, ptr %4, i64 %58
  %60 = load ptr, ptr %46, align 8
  %61 = ptrtoint ptr %59 to i64
  %62 = ptrtoint ptr %60 to i64
  %63 = sub i64 %61, %62
  %64 = load i64, ptr %47, align 8
  %65 = icmp ult i64 %63, %64
  br i1 %65, label %66, label %86
66:
  %67 = load i32, ptr %49, align 4
  %68 = or i32 %67, 1
  store i32 %68, ptr %49, align 4
  %69 = add i64 %50, %63
  %70 = trunc i64 %64 to i32
  %71 = add i32 %70, -1
  %72 = lshr i32 %71, 6
  %73 = or i32 %72, 15
  %74 = tail call range(i32 6, 29) i32 @llvm.ctlz.i32(i32 %73, i1 true)
  %75 = sub nuw nsw i32 32, %74
  %76 = zext nneg i32 %75 to i64
  %77 = lshr i64 %69, %76
  %78 = shl i64 2, %77
  %79 = lshr i64 %63, %76
  %80 = shl nsw i64 -1, %79
  %81 = add i64 %80, %78
  %82 = load i64, ptr %51, align 8
  %83 = and i64 %82, %81
  %84 = load i64, ptr %24, align 8
  %85 = or i64 %84, %83
  store i64 %85, ptr %24, align 8
  br label %86
86:
  %87 = phi i64 [ %53, %52 ], [ %85, %66 ]
  %88 = add i32 %54, -1
  %89 = and i32 %88, %54
  %90 = icmp eq i32 %89, 0
  br i1 %90, label %91, label %52
91:
  %92 = phi i64 [ %26, %10 ], [ %87, %86 ]
  %93 = icmp ne i32 %8, 2
  %94 = or i1 %93, %41
  br i1 %94, label %128, label %95
95:
  %96 = icmp eq i32 %7, 0
  %97 = zext i32 %7 to i64
  br label %98
98:
  %99 = phi i32 [ 0, %95 ], [ %124, %121 ]
  %100 = phi i32 [ %5, %95 ], [ %126, %121 ]
  %101 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %100, i1 true)
  %102 = zext nneg i32 %101 to i64
  %103 = getelementptr inbounds nuw i64, ptr %13, i64 %102
  %104 = load i64, ptr %103, align 8
  %105 = getelementptr inbounds nuw i8, ptr %4, i64 %104
  %106 = mul i32 %101, %7
  %107 = zext i32 %106 to i64
  %108 = getelementptr inbounds nuw i8, ptr %17, i64 %107
  br i1 %96, label %121, label %109
109:
  %110 = phi i64 [ %119, %109 ], [ 0, %98 ]
  %111 = phi i32 [ %118, %109 ], [ 0, %98 ]
  %112 = getelementptr inbounds nuw i8, ptr %105, i64 %110
  %113 = load i8, ptr %112, align 1
  %114 = getelementptr inbounds nuw i8, ptr %108, i64 %110
  %115 = load i8, ptr %114, align 1
  %116 = icmp ne i8 %113, %115
  %117 = zext i1 %116 to i32
  %118 = or i32 %111, %117
  %119 = add nuw nsw i64 %110, 1
  %120 = icmp eq i64 %119, %97
  br i1 %120, label %121, label %109
121:
  %122 = phi i32 [ 0, %98 ], [ %118, %109 ]
  %123 = shl nuw i32 %122, %101
  %124 = or i32 %123, %99
  %125 = add i32 %100, -1
  %126 = and i32 %125, %100
  %127 = icmp eq i32 %126, 0
  br i1 %127, label %128, label %98
128:
  %129 = phi i32 [ 0, %91 ], [ %124, %121 ]
  %130 = icmp ugt i32 %14, %7
  br i1 %130, label %154, label %131
131:
  %132 = insertelement <16 x i64> poison, i64 %36, i64 0
  %133 = shufflevector <16 x i64> %132, <16 x i64> poison, <16 x i32> zeroinitializer
  %134 = zext i32 %8 to i64
  %135 = mul nuw nsw i64 %134, 73
  %136 = xor i64 %135, -1
  %137 = and i64 %136, -140737488354880
  %138 = insertelement <16 x i64> poison, i64 %137, i64 0
  %139 = shufflevector <16 x i64> %138, <16 x i64> poison, <16 x i32> zeroinitializer
  %140 = and i64 %136, 56
  %141 = or disjoint i64 %140, 1073741824
  %142 = insertelement <16 x i64> poison, i64 %141, i64 0
  %143 = shufflevector <16 x i64> %142, <16 x i64> poison, <16 x i32> zeroinitializer
  %144 = and i64 %136, 7
  %145 = or disjoint i64 %144, 16384
  %146 = insertelement <16 x i64> poison, i64 %145, i64 0
  %147 = shufflevector <16 x i64> %146, <16 x i64> poison, <16 x i32> zeroinitializer
  %148 = or i64 %36, %135
  %149 = insertelement <16 x i64> poison, i64 %148, i64 0
  %150 = shufflevector <16 x i64> %149, <16 x i64> poison, <16 x i32> zeroinitializer
  %151 = icmp eq i32 %9, 0
  br label %159
152:
  %153 = load i64, ptr %24, align 8
  br label %154
154:
  %155 = phi i64 [ %92, %128 ], [ %153, %152 ]
  %156 = phi i32 [ 0, %128 ], [ %566, %152 ]
  %157 = phi i64 [ 0, %128 ], [ %166, %152 ]
  %158 = or i64 %155, %157
  store i64 %158, ptr %24, align 8
  ret i32 %156
159:
  %160 = phi ptr [ %39, %131 ], [ %582, %580 ]
  %161 = phi i64 [ 0, %131 ], [ %166, %580 ]
  %162 = phi i32 [ 0, %131 ], [ %566, %580 ]
  %163 = phi i32 [ 0, %131 ], [ %581, %580 ]
  call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %11)
  br label %168
164:
  %165 = tail call i64 @llvm.vector.reduce.or.v16i64(<16 x i64> %374)
  %166 = or i64 %165, %161
  br i1 %41, label %167, label %375
167:
  br label %391
168:
  %169 = phi i1 [ true, %159 ], [ false, %339 ]
  %170 = phi ptr [ %11, %159 ], [ %43, %339 ]
  %171 = phi i64 [ 0, %159 ], [ 16, %339 ]
  %172 = phi <16 x i64> [ zeroinitializer, %159 ], [ %374, %339 ]
  %173 = trunc nuw nsw i64 %171 to i32
  %174 = lshr i32 %5, %173
  %175 = trunc i32 %174 to i16
  %176 = bitcast i16 %175 to <16 x i1>
  %177 = lshr i32 %129, %173
  %178 = trunc i32 %177 to i16
  %179 = insertelement <16 x i64> poison, i64 %171, i64 0
  %180 = shufflevector <16 x i64> %179, <16 x i64> poison, <16 x i32> zeroinitializer
  %181 = or disjoint <16 x i64> %180, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %182 = getelementptr inbounds nuw i64, ptr %13, i64 %171
  %183 = extractelement <16 x i1> %176, i64 0
  br i1 %183, label %184, label %189
184:
  %185 = load i64, ptr %182, align 8
  %186 = mul i64 %185, %16
  %187 = getelementptr inbounds nuw i8, ptr %160, i64 %186
  %188 = load i64, ptr %187, align 8
  br label %189
189:
  %190 = phi i64 [ %188, %184 ], [ 0, %168 ]
  %191 = insertelement <16 x i64> <i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %190, i64 0
  %192 = extractelement <16 x i1> %176, i64 1
  br i1 %192, label %193, label %199
193:
  %194 = getelementptr inbounds nuw i8, ptr %182, i64 8
  %195 = load i64, ptr %194, align 8
  %196 = mul i64 %195, %16
  %197 = getelementptr inbounds nuw i8, ptr %160, i64 %196
  %198 = load i64, ptr %197, align 8
  br label %199
199:
  %200 = phi i64 [ %198, %193 ], [ 0, %189 ]
  %201 = insertelement <16 x i64> %191, i64 %200, i64 1
  %202 = extractelement <16 x i1> %176, i64 2
  br i1 %202, label %203, label %209
203:
  %204 = getelementptr inbounds nuw i8, ptr %182, i64 16
  %205 = load i64, ptr %204, align 8
  %206 = mul i64 %205, %16
  %207 = getelementptr inbounds nuw i8, ptr %160, i64 %206
  %208 = load i64, ptr %207, align 8
  br label %209
209:
  %210 = phi i64 [ %208, %203 ], [ 0, %199 ]
  %211 = insertelement <16 x i64> %201, i64 %210, i64 2
  %212 = extractelement <16 x i1> %176, i64 3
  br i1 %212, label %213, label %219
213:
  %214 = getelementptr inbounds nuw i8, ptr %182, i64 24
  %215 = load i64, ptr %214, align 8
  %216 = mul i64 %215, %16
  %217 = getelementptr inbounds nuw i8, ptr %160, i64 %216
  %218 = load i64, ptr %217, align 8
  br label %219
219:
  %220 = phi i64 [ %218, %213 ], [ 0, %209 ]
  %221 = insertelement <16 x i64> %211, i64 %220, i64 3
  %222 = extractelement <16 x i1> %176, i64 4
  br i1 %222, label %223, label %229
223:
  %224 = getelementptr inbounds nuw i8, ptr %182, i64 32
  %225 = load i64, ptr %224, align 8
  %226 = mul i64 %225, %16
  %227 = getelementptr inbounds nuw i8, ptr %160, i64 %226
  %228 = load i64, ptr %227, align 8
  br label %229
229:
  %230 = phi i64 [ %228, %223 ], [ 0, %219 ]
  %231 = insertelement <16 x i64> %221, i64 %230, i64 4
  %232 = extractelement <16 x i1> %176, i64 5
  br i1 %232, label %233, label %239
233:
  %234 = getelementptr inbounds nuw i8, ptr %182, i64 40
  %235 = load i64, ptr %234, align 8
  %236 = mul i64 %235, %16
  %237 = getelementptr inbounds nuw i8, ptr %160, i64 %236
  %238 = load i64, ptr %237, align 8
  br label %239
239:
  %240 = phi i64 [ %238, %233 ], [ 0, %229 ]
  %241 = insertelement <16 x i64> %231, i64 %240, i64 5
  %242 = extractelement <16 x i1> %176, i64 6
  br i1 %242, label %243, label %249
243:
  %244 = getelementptr inbounds nuw i8, ptr %182, i64 48
  %245 = load i64, ptr %244, align 8
  %246 = mul i64 %245, %16
  %247 = getelementptr inbounds nuw i8, ptr %160, i64 %246
  %248 = load i64, ptr %247, align 8
  br label %249
249:
  %250 = phi i64 [ %248, %243 ], [ 0, %239 ]
  %251 = insertelement <16 x i64> %241, i64 %250, i64 6
  %252 = extractelement <16 x i1> %176, i64 7
  br i1 %252, label %253, label %259
253:
  %254 = getelementptr inbounds nuw i8, ptr %182, i64 56
  %255 = load i64, ptr %254, align 8
  %256 = mul i64 %255, %16
  %257 = getelementptr inbounds nuw i8, ptr %160, i64 %256
  %258 = load i64, ptr %257, align 8
  br label %259
259:
  %260 = phi i64 [ %258, %253 ], [ 0, %249 ]
  %261 = insertelement <16 x i64> %251, i64 %260, i64 7
  %262 = extractelement <16 x i1> %176, i64 8
  br i1 %262, label %263, label %269
263:
  %264 = getelementptr inbounds nuw i8, ptr %182, i64 64
  %265 = load i64, ptr %264, align 8
  %266 = mul i64 %265, %16
  %267 = getelementptr inbounds nuw i8, ptr %160, i64 %266
  %268 = load i64, ptr %267, align 8
  br label %269
269:
  %270 = phi i64 [ %268, %263 ], [ 0, %259 ]
  %271 = insertelement <16 x i64> %261, i64 %270, i64 8
  %272 = extractelement <16 x i1> %176, i64 9
  br i1 %272, label %273, label %279
273:
  %274 = getelementptr inbounds nuw i8, ptr %182, i64 72
  %275 = load i64, ptr %274, align 8
  %276 = mul i64 %275, %16
  %277 = getelementptr inbounds nuw i8, ptr %160, i64 %276
  %278 = load i64, ptr %277, align 8
  br label %279
279:
  %280 = phi i64 [ %278, %273 ], [ 0, %269 ]
  %281 = insertelement <16 x i64> %271, i64 %280, i64 9
  %282 = extractelement <16 x i1> %176, i64 10
  br i1 %282, label %283, label %289
283:
  %284 = getelementptr inbounds nuw i8, ptr %182, i64 80
  %285 = load i64, ptr %284, align 8
  %286 = mul i64 %285, %16
  %287 = getelementptr inbounds nuw i8, ptr %160, i64 %286
  %288 = load i64, ptr %287, align 8
  br label %289
289:
  %290 = phi i64 [ %288, %283 ], [ 0, %279 ]
  %291 = insertelement <16 x i64> %281, i64 %290, i64 10
  %292 = extractelement <16 x i1> %176, i64 11
  br i1 %292, label %293, label %299
293:
  %294 = getelementptr inbounds nuw i8, ptr %182, i64 88
  %295 = load i64, ptr %294, align 8
  %296 = mul i64 %295, %16
  %297 = getelementptr inbounds nuw i8, ptr %160, i64 %296
  %298 = load i64, ptr %297, align 8
  br label %299
299:
  %300 = phi i64 [ %298, %293 ], [ 0, %289 ]
  %301 = insertelement <16 x i64> %291, i64 %300, i64 11
  %302 = extractelement <16 x i1> %176, i64 12
  br i1 %302, label %303, label %309
303:
  %304 = getelementptr inbounds nuw i8, ptr %182, i64 96
  %305 = load i64, ptr %304, align 8
  %306 = mul i64 %305, %16
  %307 = getelementptr inbounds nuw i8, ptr %160, i64 %306
  %308 = load i64, ptr %307, align 8
  br label %309
309:
  %310 = phi i64 [ %308, %303 ], [ 0, %299 ]
  %311 = insertelement <16 x i64> %301, i64 %310, i64 12
  %312 = extractelement <16 x i1> %176, i64 13
  br i1 %312, label %313, label %319
313:
  %314 = getelementptr inbounds nuw i8, ptr %182, i64 104
  %315 = load i64, ptr %314, align 8
  %316 = mul i64 %315, %16
  %317 = getelementptr inbounds nuw i8, ptr %160, i64 %316
  %318 = load i64, ptr %317, align 8
  br label %319
319:
  %320 = phi i64 [ %318, %313 ], [ 0, %309 ]
  %321 = insertelement <16 x i64> %311, i64 %320, i64 13
  %322 = extractelement <16 x i1> %176, i64 14
  br i1 %322, label %323, label %329
323:
  %324 = getelementptr inbounds nuw i8, ptr %182, i64 112
  %325 = load i64, ptr %324, align 8
  %326 = mul i64 %325, %16
  %327 = getelementptr inbounds nuw i8, ptr %160, i64 %326
  %328 = load i64, ptr %327, align 8
  br label %329
329:
  %330 = phi i64 [ %328, %323 ], [ 0, %319 ]
  %331 = insertelement <16 x i64> %321, i64 %330, i64 14
  %332 = extractelement <16 x i1> %176, i64 15
  br i1 %332, label %333, label %339
333:
  %334 = getelementptr inbounds nuw i8, ptr %182, i64 120
  %335 = load i64, ptr %334, align 8
  %336 = mul i64 %335, %16
  %337 = getelementptr inbounds nuw i8, ptr %160, i64 %336
  %338 = load i64, ptr %337, align 8
  br label %339
339:
  %340 = phi i64 [ %338, %333 ], [ 0, %329 ]
  %341 = insertelement <16 x i64> %331, i64 %340, i64 15
  %342 = bitcast i16 %178 to <16 x i1>
  %343 = shl nuw nsw <16 x i64> %181, splat (i64 9)
  %344 = lshr <16 x i64> %341, splat (i64 1)
  %345 = and <16 x i64> %344, splat (i64 73)
  %346 = select <16 x i1> %342, <16 x i64> %345, <16 x i64> zeroinitializer
  %347 = or <16 x i64> %346, %341
  %348 = or <16 x i64> %343, %133
  %349 = xor <16 x i64> %347, %348
  %350 = and <16 x i64> %341, splat (i64 16384)
  %351 = or <16 x i64> %349, %350
  %352 = icmp ugt <16 x i64> %349, splat (i64 140737488355327)
  %353 = select <16 x i1> %352, <16 x i64> %139, <16 x i64> zeroinitializer
  %354 = icmp ult <16 x i64> %349, splat (i64 2147483648)
  %355 = select <16 x i1> %354, <16 x i64> %143, <16 x i64> %353
  %356 = icmp ugt <16 x i64> %349, splat (i64 33554431)
  %357 = select <16 x i1> %356, <16 x i64> %355, <16 x i64> zeroinitializer
  %358 = icmp ult <16 x i64> %349, splat (i64 32768)
  %359 = select <16 x i1> %358, <16 x i64> %147, <16 x i64> %357
  %360 = icmp ugt <16 x i64> %351, splat (i64 511)
  %361 = select <16 x i1> %360, <16 x i64> %359, <16 x i64> zeroinitializer
  %362 = icmp eq <16 x i64> %347, zeroinitializer
  %363 = select <16 x i1> %362, <16 x i64> zeroinitializer, <16 x i64> %361
  %364 = select <16 x i1> %354, <16 x i64> splat (i64 504), <16 x i64> splat (i64 448)
  %365 = select <16 x i1> %358, <16 x i64> splat (i64 511), <16 x i64> %364
  %366 = and <16 x i64> %347, splat (i64 511)
  %367 = and <16 x i64> %366, %363
  %368 = and <16 x i64> %365, %347
  %369 = and <16 x i64> %363, splat (i64 -512)
  %370 = or <16 x i64> %150, %368
  %371 = or <16 x i64> %370, %369
  %372 = or <16 x i64> %371, %343
  store <16 x i64> %372, ptr %170, align 16
  %373 = select <16 x i1> %176, <16 x i64> %367, <16 x i64> zeroinitializer
  %374 = or <16 x i64> %373, %172
  br i1 %169, label %168, label %164
375:
  %376 = phi i32 [ %386, %375 ], [ %5, %164 ]
  %377 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %376, i1 true)
  %378 = zext nneg i32 %377 to i64
  %379 = getelementptr inbounds nuw i64, ptr %11, i64 %378
  %380 = load i64, ptr %379, align 8
  %381 = getelementptr inbounds nuw i64, ptr %13, i64 %378
  %382 = load i64, ptr %381, align 8
  %383 = mul i64 %382, %16
  %384 = getelementptr inbounds nuw i8, ptr %160, i64 %383
  store i64 %380, ptr %384, align 8
  %385 = add i32 %376, -1
  %386 = and i32 %385, %376
  %387 = icmp eq i32 %386, 0
  br i1 %387, label %167, label %375
388:
  %389 = select i1 %151, i32 %566, i32 %5
  %390 = icmp eq i32 %389, 0
  br i1 %390, label %580, label %567
391:
  %392 = phi i1 [ false, %557 ], [ true, %167 ]
  %393 = phi ptr [ %44, %557 ], [ %11, %167 ]
  %394 = phi i64 [ 16, %557 ], [ 0, %167 ]
  %395 = phi i32 [ %566, %557 ], [ %162, %167 ]
  %396 = trunc nuw nsw i64 %394 to i32
  %397 = lshr i32 %5, %396
  %398 = trunc i32 %397 to i16
  %399 = bitcast i16 %398 to <16 x i1>
  %400 = getelementptr inbounds nuw i64, ptr %13, i64 %394
  %401 = extractelement <16 x i1> %399, i64 0
  br i1 %401, label %402, label %407
402:
  %403 = load i64, ptr %400, align 8
  %404 = mul i64 %403, %16
  %405 = getelementptr inbounds nuw i8, ptr %160, i64 %404
  %406 = load i64, ptr %405, align 8
  br label %407
407:
  %408 = phi i64 [ %406, %402 ], [ 0, %391 ]
  %409 = insertelement <16 x i64> <i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %408, i64 0
  %410 = extractelement <16 x i1> %399, i64 1
  br i1 %410, label %411, label %417
411:
  %412 = getelementptr inbounds nuw i8, ptr %400, i64 8
  %413 = load i64, ptr %412, align 8
  %414 = mul i64 %413, %16
  %415 = getelementptr inbounds nuw i8, ptr %160, i64 %414
  %416 = load i64, ptr %415, align 8
  br label %417
417:
  %418 = phi i64 [ %416, %411 ], [ 0, %407 ]
  %419 = insertelement <16 x i64> %409, i64 %418, i64 1
  %420 = extractelement <16 x i1> %399, i64 2
  br i1 %420, label %421, label %427
421:
  %422 = getelementptr inbounds nuw i8, ptr %400, i64 16
  %423 = load i64, ptr %422, align 8
  %424 = mul i64 %423, %16
  %425 = getelementptr inbounds nuw i8, ptr %160, i64 %424
  %426 = load i64, ptr %425, align 8
  br label %427
427:
  %428 = phi i64 [ %426, %421 ], [ 0, %417 ]
  %429 = insertelement <16 x i64> %419, i64 %428, i64 2
  %430 = extractelement <16 x i1> %399, i64 3
  br i1 %430, label %431, label %437
431:
  %432 = getelementptr inbounds nuw i8, ptr %400, i64 24
  %433 = load i64, ptr %432, align 8
  %434 = mul i64 %433, %16
  %435 = getelementptr inbounds nuw i8, ptr %160, i64 %434
  %436 = load i64, ptr %435, align 8
  br label %437
437:
  %438 = phi i64 [ %436, %431 ], [ 0, %427 ]
  %439 = insertelement <16 x i64> %429, i64 %438, i64 3
  %440 = extractelement <16 x i1> %399, i64 4
  br i1 %440, label %441, label %447
441:
  %442 = getelementptr inbounds nuw i8, ptr %400, i64 32
  %443 = load i64, ptr %442, align 8
  %444 = mul i64 %443, %16
  %445 = getelementptr inbounds nuw i8, ptr %160, i64 %444
  %446 = load i64, ptr %445, align 8
  br label %447
447:
  %448 = phi i64 [ %446, %441 ], [ 0, %437 ]
  %449 = insertelement <16 x i64> %439, i64 %448, i64 4
  %450 = extractelement <16 x i1> %399, i64 5
  br i1 %450, label %451, label %457
451:
  %452 = getelementptr inbounds nuw i8, ptr %400, i64 40
  %453 = load i64, ptr %452, align 8
  %454 = mul i64 %453, %16
  %455 = getelementptr inbounds nuw i8, ptr %160, i64 %454
  %456 = load i64, ptr %455, align 8
  br label %457
457:
  %458 = phi i64 [ %456, %451 ], [ 0, %447 ]
  %459 = insertelement <16 x i64> %449, i64 %458, i64 5
  %460 = extractelement <16 x i1> %399, i64 6
  br i1 %460, label %461, label %467
461:
  %462 = getelementptr inbounds nuw i8, ptr %400, i64 48
  %463 = load i64, ptr %462, align 8
  %464 = mul i64 %463, %16
  %465 = getelementptr inbounds nuw i8, ptr %160, i64 %464
  %466 = load i64, ptr %465, align 8
  br label %467
467:
  %468 = phi i64 [ %466, %461 ], [ 0, %457 ]
  %469 = insertelement <16 x i64> %459, i64 %468, i64 6
  %470 = extractelement <16 x i1> %399, i64 7
  br i1 %470, label %471, label %477
471:
  %472 = getelementptr inbounds nuw i8, ptr %400, i64 56
  %473 = load i64, ptr %472, align 8
  %474 = mul i64 %473, %16
  %475 = getelementptr inbounds nuw i8, ptr %160, i64 %474
  %476 = load i64, ptr %475, align 8
  br label %477
477:
  %478 = phi i64 [ %476, %471 ], [ 0, %467 ]
  %479 = insertelement <16 x i64> %469, i64 %478, i64 7
  %480 = extractelement <16 x i1> %399, i64 8
  br i1 %480, label %481, label %487
481:
  %482 = getelementptr inbounds nuw i8, ptr %400, i64 64
  %483 = load i64, ptr %482, align 8
  %484 = mul i64 %483, %16
  %485 = getelementptr inbounds nuw i8, ptr %160, i64 %484
  %486 = load i64, ptr %485, align 8
  br label %487
487:
  %488 = phi i64 [ %486, %481 ], [ 0, %477 ]
  %489 = insertelement <16 x i64> %479, i64 %488, i64 8
  %490 = extractelement <16 x i1> %399, i64 9
  br i1 %490, label %491, label %497
491:
  %492 = getelementptr inbounds nuw i8, ptr %400, i64 72
  %493 = load i64, ptr %492, align 8
  %494 = mul i64 %493, %16
  %495 = getelementptr inbounds nuw i8, ptr %160, i64 %494
  %496 = load i64, ptr %495, align 8
  br label %497
497:
  %498 = phi i64 [ %496, %491 ], [ 0, %487 ]
  %499 = insertelement <16 x i64> %489, i64 %498, i64 9
  %500 = extractelement <16 x i1> %399, i64 10
  br i1 %500, label %501, label %507
501:
  %502 = getelementptr inbounds nuw i8, ptr %400, i64 80
  %503 = load i64, ptr %502, align 8
  %504 = mul i64 %503, %16
  %505 = getelementptr inbounds nuw i8, ptr %160, i64 %504
  %506 = load i64, ptr %505, align 8
  br label %507
507:
  %508 = phi i64 [ %506, %501 ], [ 0, %497 ]
  %509 = insertelement <16 x i64> %499, i64 %508, i64 10
  %510 = extractelement <16 x i1> %399, i64 11
  br i1 %510, label %511, label %517
511:
  %512 = getelementptr inbounds nuw i8, ptr %400, i64 88
  %513 = load i64, ptr %512, align 8
  %514 = mul i64 %513, %16
  %515 = getelementptr inbounds nuw i8, ptr %160, i64 %514
  %516 = load i64, ptr %515, align 8
  br label %517
517:
  %518 = phi i64 [ %516, %511 ], [ 0, %507 ]
  %519 = insertelement <16 x i64> %509, i64 %518, i64 11
  %520 = extractelement <16 x i1> %399, i64 12
  br i1 %520, label %521, label %527
521:
  %522 = getelementptr inbounds nuw i8, ptr %400, i64 96
  %523 = load i64, ptr %522, align 8
  %524 = mul i64 %523, %16
  %525 = getelementptr inbounds nuw i8, ptr %160, i64 %524
  %526 = load i64, ptr %525, align 8
  br label %527
527:
  %528 = phi i64 [ %526, %521 ], [ 0, %517 ]
  %529 = insertelement <16 x i64> %519, i64 %528, i64 12
  %530 = extractelement <16 x i1> %399, i64 13
  br i1 %530, label %531, label %537
531:
  %532 = getelementptr inbounds nuw i8, ptr %400, i64 104
  %533 = load i64, ptr %532, align 8
  %534 = mul i64 %533, %16
  %535 = getelementptr inbounds nuw i8, ptr %160, i64 %534
  %536 = load i64, ptr %535, align 8
  br label %537
537:
  %538 = phi i64 [ %536, %531 ], [ 0, %527 ]
  %539 = insertelement <16 x i64> %529, i64 %538, i64 13
  %540 = extractelement <16 x i1> %399, i64 14
  br i1 %540, label %541, label %547
541:
  %542 = getelementptr inbounds nuw i8, ptr %400, i64 112
  %543 = load i64, ptr %542, align 8
  %544 = mul i64 %543, %16
  %545 = getelementptr inbounds nuw i8, ptr %160, i64 %544
  %546 = load i64, ptr %545, align 8
  br label %547
547:
  %548 = phi i64 [ %546, %541 ], [ 0, %537 ]
  %549 = insertelement <16 x i64> %539, i64 %548, i64 14
  %550 = extractelement <16 x i1> %399, i64 15
  br i1 %550, label %551, label %557
551:
  %552 = getelementptr inbounds nuw i8, ptr %400, i64 120
  %553 = load i64, ptr %552, align 8
  %554 = mul i64 %553, %16
  %555 = getelementptr inbounds nuw i8, ptr %160, i64 %554
  %556 = load i64, ptr %555, align 8
  br label %557
557:
  %558 = phi i64 [ %556, %551 ], [ 0, %547 ]
  %559 = insertelement <16 x i64> %549, i64 %558, i64 15
  %560 = load <16 x i64>, ptr %393, align 16
  %561 = select <16 x i1> %399, <16 x i64> %560, <16 x i64> zeroinitializer
  %562 = icmp ne <16 x i64> %559, %561
  %563 = bitcast <16 x i1> %562 to i16
  %564 = zext i16 %563 to i32
  %565 = shl nuw i32 %564, %396
  %566 = or i32 %565, %395
  br i1 %392, label %391, label %388
567:
  %568 = phi i32 [ %578, %567 ], [ %389, %388 ]
  %569 = tail call range(i32 0, 32) i32 @llvm.cttz.i32(i32 %568, i1 true)
  %570 = zext nneg i32 %569 to i64
  %571 = getelementptr inbounds nuw i64, ptr %13, i64 %570
  %572 = load i64, ptr %571, align 8
  %573 = mul i64 %572, %16
  %574 = getelementptr inbounds nuw i8, ptr %160, i64 %573
  %575 = load i64, ptr %574, align 8
  %576 = or i64 %575, 16384
  store i64 %576, ptr %574, align 8
  %577 = add i32 %568, -1
  %578 = and i32 %577, %568
  %579 = icmp eq i32 %578, 0
  br i1 %579, label %580, label %567
580:
  call void @llvm.lifetime.end.p0(i64 256, ptr nonnull %11)
  %581 = add nuw i32 %163, 1
  %582 = getelementptr inbounds nuw i8, ptr %160, i64 8
  %583 = icmp ult i32 %581, %37
  br i1 %583, label %159, label %152
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
  %17 = load i32, ptr getelementptr inbounds nuw (i8, ptr @kernel, i64 120), align 4
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
