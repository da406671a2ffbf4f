#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct item {
    double x[8];
};

int main()
{
    std::vector<double> grown;
    std::vector<float> other;
    for (int i = 0; i < 1000; i++) {
        grown.push_back(i); // mark: grown
        other.push_back(i); // mark: other
    }
    item *array = new item[500]; // mark: array
    item *one = nullptr;
    for (int i = 0; i < 7; i++) {
        delete one;
        one = new item(); // mark: one
    }
    array[3].x[2] = one->x[1];
    std::map<int, int> *tree = new std::map<int, int>; // mark: tree
    std::printf("%g %g %g\n", grown[999], double(other[5]), array[3].x[2]);
    delete one;
    delete[] array;
    delete tree;
}
